/* cuDNN's double; see double.h. A descriptor keeps what it was given; a plan is run from the
 * descriptors that it leads to. */
#include "tests/cuda/double_calls.hpp"

extern "C" {
#include "gpu/cuda/cudnn_graph.h"
}

#include <cmath>
#include <cstring>
#include <map>
#include <vector>

namespace
{
struct node {
    cudnnBackendDescriptorType_t type;
    std::map<int, std::vector<char>> values;
    bool final;

    template <class T> std::vector<T> all(int name) const
    {
        auto v = values.find(name);
        std::vector<T> out(v == values.end() ? 0 : v->second.size() / sizeof(T));
        if (!out.empty())
            memcpy(out.data(), v->second.data(), v->second.size());
        return out;
    }
    template <class T> T one(int name) const
    {
        std::vector<T> x = all<T>(name);
        return x.empty() ? T() : x[0];
    }
    const node *at(int name) const
    {
        return (const node *)one<void *>(name);
    }
};

size_t size_of(cudnnBackendAttributeType_t type)
{
    switch (type) {
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR: return sizeof(void *);
    case CUDNN_TYPE_INT64: return sizeof(int64_t);
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR: return 1;
    default: /* enums, floats */ return sizeof(int);
    }
}

cudaStream_t stream_of_handle;

size_t version(void)
{
    return 99900;
}
const char *text(cudnnStatus_t)
{
    return "an error of the double";
}
cudnnStatus_t open_handle(cudnnHandle_t *h)
{
    MAY_FAIL(CUDNN_STATUS_NOT_INITIALIZED);
    *h = made<cudnnHandle_t>(new int());
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t close_handle(cudnnHandle_t h)
{
    unmade((int *)(void *)h);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t set_stream(cudnnHandle_t, cudaStream_t s)
{
    MAY_FAIL(CUDNN_STATUS_EXECUTION_FAILED);
    stream_of_handle = s;
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t make_node(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *d)
{
    MAY_FAIL(CUDNN_STATUS_ALLOC_FAILED);
    *d = made<cudnnBackendDescriptor_t>(new node{type, {}, false});
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t destroy_node(cudnnBackendDescriptor_t d)
{
    unmade((node *)d);
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t set_value(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                        cudnnBackendAttributeType_t type, int64_t n, const void *values)
{
    MAY_FAIL(CUDNN_STATUS_INTERNAL_ERROR);
    node *x = (node *)d;
    if (x->final)
        return CUDNN_STATUS_BAD_PARAM;
    const char *from = (const char *)values;
    x->values[name].assign(from, from + (size_t)n * size_of(type));
    if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR && !((const node *)*(void *const *)values)->final)
        return CUDNN_STATUS_BAD_PARAM;
    return CUDNN_STATUS_SUCCESS;
}

const node *operation_of(const node *graph)
{
    return graph->at(CUDNN_ATTR_OPERATIONGRAPH_OPS);
}

/* The attributes of the three kinds of convolution: x, filters, y. */
const int convolutions[][3] = {
    {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY},
    {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY}};
int number_of(const node *op)
{
    return (int)op->type - (int)CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
}

/* Like the real one it has no gradients of bf16 with results in f32, and none of odd channels; and
 * nothing at all of 17 channels. */
bool has_plan(const node *op)
{
    if (op->type == CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR)
        return true;
    const int *names = convolutions[number_of(op)];
    std::vector<int64_t> x = op->at(names[0])->all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
    bool bf16 = false;
    for (int i = 0; i < 3; i++)
        bf16 |= op->at(names[i])->one<int>(CUDNN_ATTR_TENSOR_DATA_TYPE) == CUDNN_DATA_BFLOAT16;
    return bf16 ? number_of(op) == 0 && x[1] % 2 == 0 : x[1] != 17;
}

cudnnStatus_t finalize_node(cudnnBackendDescriptor_t d)
{
    MAY_FAIL(CUDNN_STATUS_INTERNAL_ERROR);
    node *x = (node *)d;
    x->final = true;
    if (x->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR &&
        !has_plan(operation_of(x->at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH))))
        return CUDNN_STATUS_NOT_SUPPORTED;
    /* The first configuration does not make a plan, the second is not deterministic. */
    if (x->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR &&
        x->at(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->one<int64_t>(0) == 0)
        return CUDNN_STATUS_NOT_SUPPORTED;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t get_value(cudnnBackendDescriptor_t const d, cudnnBackendAttributeName_t name,
                        cudnnBackendAttributeType_t, int64_t wanted, int64_t *n, void *values)
{
    MAY_FAIL(CUDNN_STATUS_INTERNAL_ERROR);
    const node *x = (const node *)d;
    *n = 1;
    if (name == CUDNN_ATTR_ENGINEHEUR_RESULTS) {
        for (*n = 0; *n < 3 && *n < wanted; ++*n) {
            node *config = (node *)((void **)values)[*n];
            const char *number = (const char *)n,
                       *graph =
                           (const char *)&x->values.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)[0];
            config->values[0].assign(number, number + sizeof *n);
            config->values[1].assign(graph, graph + sizeof(void *));
            config->final = true;
        }
    } else if (name == CUDNN_ATTR_ENGINECFG_ENGINE) {
        ((node *)*(void **)values)->values = x->values;
    } else if (name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE) {
        *n = x->one<int64_t>(0) == 1;
        if (*n)
            *(int *)values = CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
    } else if (name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE) {
        *(int64_t *)values = 1000;
    } else {
        return CUDNN_STATUS_BAD_PARAM;
    }
    return CUDNN_STATUS_SUCCESS;
}

/* ---- what is computed ---- */

struct view {
    bool bf16;
    int64_t size[4], stride[4];
    char *at;

    size_t place(int64_t a, int64_t b, int64_t c, int64_t d) const
    {
        return (size_t)(a * stride[0] + b * stride[1] + c * stride[2] + d * stride[3]);
    }
    float get(size_t i) const
    {
        return bf16 ? double_widened(((const uint16_t *)at)[i]) : ((const float *)at)[i];
    }
    void put(size_t i, float x) const
    {
        if (bf16)
            ((uint16_t *)at)[i] = double_narrowed(x);
        else
            ((float *)at)[i] = x;
    }
};

view view_of(const node *t, const std::map<int64_t, void *> &pointers)
{
    view v = {t->one<int>(CUDNN_ATTR_TENSOR_DATA_TYPE) == CUDNN_DATA_BFLOAT16,
              {},
              {},
              (char *)pointers.at(t->one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID))};
    std::vector<int64_t> size = t->all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
    std::vector<int64_t> stride = t->all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
    for (int i = 0; i < 4; i++) {
        v.size[i] = size[(size_t)i];
        v.stride[i] = stride[(size_t)i];
    }
    return v;
}

void convolve(int kind, const view &x, const view &w, const view &y)
{
    const view &out = kind == 0 ? y : kind == 1 ? w : x;
    std::vector<float> sum((size_t)(out.size[0] * out.size[1] * out.size[2] * out.size[3]));
    for (int64_t n = 0; n < y.size[0]; n++)
        for (int64_t h = 0; h < y.size[2]; h++)
            for (int64_t v = 0; v < y.size[3]; v++)
                for (int64_t r = 0; r < w.size[2]; r++)
                    for (int64_t s = 0; s < w.size[3]; s++)
                        for (int64_t k = 0; k < w.size[0]; k++)
                            for (int64_t c = 0; c < w.size[1]; c++) {
                                size_t at[] = {x.place(n, c, h + r, v + s), w.place(k, c, r, s),
                                               y.place(n, k, h, v)};
                                if (kind == 0)
                                    sum[at[2]] += x.get(at[0]) * w.get(at[1]);
                                else if (kind == 1)
                                    sum[at[1]] += x.get(at[0]) * y.get(at[2]);
                                else
                                    sum[at[0]] += y.get(at[2]) * w.get(at[1]);
                            }
    for (size_t i = 0; i < sum.size(); i++)
        out.put(i, sum[i]);
}

void attend(const view *x, float *sums, float scale, const int32_t *rows, const int32_t *places,
            const int32_t *lengths, const int32_t *results)
{
    const view &q = x[0], &k = x[1], &v = x[2], &out = x[3];
    for (int64_t b = 0; b < q.size[0]; b++)
        for (int64_t h = 0; h < q.size[1]; h++)
            for (int64_t i = 0; i < lengths[b]; i++) {
                std::vector<double> p((size_t)lengths[b]);
                double most = -INFINITY, total = 0;
                for (int64_t j = 0; j < lengths[b]; j++) {
                    double dot = 0;
                    for (int64_t d = 0; d < q.size[3]; d++)
                        dot += (double)q.get((size_t)rows[b] + q.place(0, h, i, d)) *
                               (double)k.get((size_t)rows[b] + k.place(0, h, j, d));
                    p[(size_t)j] = dot * (double)scale;
                    most = fmax(most, p[(size_t)j]);
                }
                for (double &y : p)
                    total += y = exp(y - most);
                sums[places[b] + i * q.size[1] + h] = (float)(most + log(total));
                for (int64_t d = 0; d < q.size[3]; d++) {
                    double sum = 0;
                    for (int64_t j = 0; j < lengths[b]; j++)
                        sum += p[(size_t)j] * (double)v.get((size_t)rows[b] + v.place(0, h, j, d));
                    out.put((size_t)results[b] + out.place(0, h, i, d), (float)(sum / total));
                }
            }
}

cudnnStatus_t execute(cudnnHandle_t, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack)
{
    MAY_FAIL(CUDNN_STATUS_EXECUTION_FAILED);
    const node *p = (const node *)pack;
    const node *op = operation_of((const node *)*(void *const *)&(
        ((const node *)plan)->at(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->values.at(1)[0]));
    std::vector<int64_t> ids = p->all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
    std::vector<void *> at = p->all<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
    std::map<int64_t, void *> pointers;
    for (size_t i = 0; i < ids.size(); i++)
        pointers[ids[i]] = at[i];
    char *workspace = (char *)p->one<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
    eqloom_double.products++;
    if (op->type == CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR) {
        float scale = *(const float *)pointers.at(6); /* of the host */
        std::vector<view> x;
        for (int name : {CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC,
                         CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC})
            x.push_back(view_of(op->at(name), pointers));
        double_submit(stream_of_handle, [=] {
            memset(workspace, 0xff, 1000);
            attend(x.data(), (float *)pointers.at(5), scale, (const int32_t *)pointers.at(7),
                   (const int32_t *)pointers.at(8), (const int32_t *)pointers.at(9),
                   (const int32_t *)pointers.at(10));
        });
        return CUDNN_STATUS_SUCCESS;
    }
    int kind = number_of(op);
    view x[3];
    for (int i = 0; i < 3; i++)
        x[i] = view_of(op->at(convolutions[kind][i]), pointers);
    view a = x[0], b = x[1], c = x[2];
    double_submit(stream_of_handle, [=] {
        memset(workspace, 0xff, 1000);
        convolve(kind, a, b, c);
    });
    return CUDNN_STATUS_SUCCESS;
}

const struct cudnn_calls calls = {version,    text,          open_handle,  close_handle,
                                  set_stream, make_node,     destroy_node, set_value,
                                  get_value,  finalize_node, execute};
} // namespace

extern "C" const struct cudnn_calls *cudnn_load(const char **why)
{
    *why = eqloom_double.no_cudnn ? "the double has none" : NULL;
    return eqloom_double.no_cudnn ? NULL : &calls;
}
