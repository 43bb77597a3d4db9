/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a matrix, and any matrix as a kernel: an error with words, or finite numbers that
 * make columns of length 1 or 0. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "tacit/data.h"
#include "tacit/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

#define MOST 24

static void try_kernel(const tacit_matrix *m)
{
    double diagonal[MOST], basis[MOST * 2];
    tacit_graph graph;
    tacit_error err = {0};
    const uint32_t n = (uint32_t)m->rows;
    if (m->rows != m->columns || m->rows > MOST)
        return;
    if (tacit_kernel_graph(&graph, diagonal, n, m->value, &err) != TACIT_OK) {
        if (err.text[0] == '\0' || graph.row)
            abort();
        return;
    }
    const size_t rank = n > 1 ? 2 : 1;
    tacit_status status = tacit_kernel_basis(&graph, diagonal, m->value[0] > 1, rank, basis, &err);
    if (status == TACIT_OK)
        status = tacit_basis_optimise(n, rank, NULL, basis, NULL, &err);
    for (size_t i = 0; i < n && status == TACIT_OK; i++) {
        double squares = 0;
        for (size_t k = 0; k < rank; k++)
            squares += basis[i * rank + k] * basis[i * rank + k];
        if (!(squares <= 1 + 1e-9))
            abort();
    }
    tacit_graph_clear(&graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    tacit_matrix m;
    tacit_error err = {0};
    tacit_status status =
        tacit_matrix_parse(&m, "fuzz", "agent,round", (const char *)bytes, len, &err);
    if (status ? m.value != NULL || err.text[0] == '\0' : m.rows == 0 || m.columns == 0)
        abort();
    for (size_t k = 0; !status && k < m.rows * m.columns; k++)
        if (!isfinite(m.value[k]))
            abort();
    if (!status)
        try_kernel(&m);
    tacit_matrix_clear(&m);
    return 0;
}
