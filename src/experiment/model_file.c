/* SPDX-License-Identifier: Apache-2.0 */
/* model.tacit in a run folder: staged like the run's other files, published with them. */
#include <sodium.h>
#include <stdlib.h>

#include "experiment/files.h"

tacit_status tacit_folder_stage_model(const tacit_folder *folder, const tacit_net_model *model,
                                      tacit_error *err)
{
    tacit_outfile file;
    uint8_t *bytes;
    size_t len;
    tacit_status status = tacit_net_file_bytes(&bytes, &len, model, err);
    if (status)
        return status;
    status = tacit_outfile_open(&file, folder, TACIT_MODEL_FILE, err);
    if (!status) {
        tacit_write_bytes(&file.text, bytes, len);
        status = tacit_outfile_stage(&file, err);
    }
    sodium_memzero(bytes, len);
    free(bytes);
    return status;
}
