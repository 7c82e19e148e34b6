# eqloom on Debian 12, built as ./run.sh builds it, with its library and Python module:
#
#   docker build -t eqloom .
#   docker run --rm -u "$(id -u):$(id -g)" -v "$PWD:/work" eqloom run /usr/local/share/eqloom/jobs/quickstart.yaml
FROM debian:12-slim
COPY . /src
RUN /src/run.sh --version && \
    meson install -C /src/build --no-rebuild --quiet && \
    ldconfig && \
    rm -rf /src /var/lib/apt/lists/*
ENV PYTHONPATH=/usr/local/lib/python3/dist-packages
WORKDIR /work
ENTRYPOINT ["eqloom"]
