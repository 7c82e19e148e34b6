/* The preamble of all equations; see tex_source.h. Environments and commands that
 * texlive-latex-base has not, and that carry no picture of their own, stand for what it has. */
#include "ops/images/tex/tex_source.h"

const char tex_preamble[] =
    "\\documentclass{article}\n"
    "\\usepackage{amsmath,amssymb,bm}\n"
    "\\makeatletter\n"
    /* what refers to other places */
    "\\let\\label\\@gobble\\let\\label@in@display\\@gobble\n"
    "\\def\\ref#1{1}\\def\\eqref#1{(1)}\\def\\pageref#1{1}\\def\\cite#1{[1]}\\let\\citep\\cite\n"
    "\\let\\citet\\cite\\def\\footnote#1{}\\let\\footnotemark\\relax\\def\\index#1{}\n"
    "\\newcommand\\hyperref[2][]{#2}\\def\\href#1#2{#2}\\def\\url#1{#1}\n"
    /* colours and boxes */
    "\\newcommand\\color[2][]{}\\newcommand\\textcolor[3][]{#3}\n"
    "\\newcommand\\colorbox[3][]{#3}\\def\\cancel#1{#1}\\def\\bcancel#1{#1}\\def\\xcancel#1{#1}\n"
    /* mathtools, physics, siunitx, amsthm: the usual */
    "\\def\\coloneqq{\\mathrel{:=}}\\def\\eqqcolon{\\mathrel{=:}}\\let\\coloneq\\coloneqq\n"
    "\\let\\vcentcolon:\\def\\mathclap#1{\\hbox to 0pt{\\hss$#1$\\hss}}\n"
    "\\let\\mathllap\\llap\\let\\mathrlap\\rlap\\newcommand\\shortintertext[1]{\\intertext{#1}}\n"
    "\\newenvironment{dcases}{\\begin{cases}}{\\end{cases}}\n"
    "\\newenvironment{rcases}{\\left.\\begin{array}{l}}{\\end{array}\\right\\}}\n"
    "\\newcommand\\qedhere{}\\newcommand\\qty[1]{#1}\n"
    "\\def\\mathscr{\\mathcal}\\def\\mathbbm{\\mathbb}\\def\\mathds{\\mathbb}\n"
    "\\def\\bra#1{\\langle#1|}\\def\\ket#1{|#1\\rangle}\\def\\braket#1{\\langle#1\\rangle}\n"
    "\\def\\slashed#1{\\not{#1}}\\def\\nicefrac#1#2{#1/#2}\n"
    "\\newenvironment{IEEEeqnarray}[2][]{\\begin{equation*}\\begin{array}{*{20}{c}}}\n"
    "{\\end{array}\\end{equation*}}\\let\\IEEEnonumber\\relax\\let\\IEEEyesnumber\\relax\n"
    "\\let\\IEEEeqnarraynumspace\\relax\\let\\IEEEeqnarraymulticol\\multicolumn\n"
    /* drawing one file as one page; nothing may be left open in it */
    "\\newbox\\eqloom@box\\newcount\\eqloom@level\n"
    "\\def\\eqloomforget#1{\\expandafter\\let\\csname#1\\endcsname\\eqloomundefined\n"
    "\\expandafter\\let\\csname end#1\\endcsname\\eqloomundefined}\n"
    "\\def\\eqloom@stop{\\errmessage{A group or environment is not closed}\\batchmode\n"
    "\\read-1 to\\eqloom@}\n"
    "\\def\\eqloomset#1{\\immediate\\write-1{[[eqloom #1]]}\\begingroup\\pdfsetrandomseed1\n"
    "\\eqloom@level=\\currentgrouplevel\\setcounter{equation}{0}\n"
    "\\setbox\\eqloom@box\\vbox\\bgroup\\hsize2000pt\\linewidth\\hsize\\columnwidth\\hsize\n"
    "\\parindent0pt\\hbadness10000\\vbadness10000\\hfuzz\\maxdimen\\vfuzz\\maxdimen\n"
    "\\@@input #1 \\par\n"
    "\\ifnum\\currentgrouplevel=\\numexpr\\eqloom@level+1\\relax\\else\\eqloom@stop\\fi\\egroup\n"
    "\\global\\count0=#1 \\shipout\\box\\eqloom@box\\endgroup\n"
    "\\immediate\\write-1{[[eqloom #1 done]]}}\n"
    "\\nofiles\\makeatother\\dump\n";
