/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digests are facts about files that others publish: of the file as its publisher packs it,
 * where we have seen it so, and of what is inside, so that a file packed anew is recognised once
 * it is unpacked. Where we are not sure of an address we name the source only.
 */
#include "data/known.h"

#include "data/bytes.h"
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOVIELENS,
    MNIST,
    QMNIST,
    HAR,
    BREAST_CANCER,
    DIABETES,
    SCHOOL,
    BUYERS,
    HOUSING,
    SVMGUIDE,
    INSTEVAL,
    LENDING,
    TRIPADVISOR,
    SPARCS,
    AVAZU
};

const tacit_known_set tacit_known_sets[] = {
    [MOVIELENS] = {"MovieLens 100K", "100,000 ratings of 1,682 films by 943 users",
                   "research only, not to be passed on",
                   "get ml-100k.zip from https://grouplens.org/datasets/movielens/100k/"},
    [MNIST] = {"MNIST", "70,000 handwritten digits of 28 x 28 pixels", "see its page",
               "get it from http://yann.lecun.com/exdb/mnist/ or one of its many mirrors"},
    [QMNIST] = {"QMNIST", "who wrote the digits of MNIST", "BSD-style",
                "get it from https://github.com/facebookresearch/qmnist"},
    [HAR] = {"UCI HAR", "10,299 windows of phone sensors, 561 features, 30 people",
             "no commercial use, says its README",
             "get \"Human Activity Recognition Using Smartphones\" from "
             "https://archive.ics.uci.edu/dataset/240"},
    [BREAST_CANCER] = {"Wisconsin breast cancer (original)",
                       "699 cell samples, benign or malignant", "see its page",
                       "get it from https://archive.ics.uci.edu/dataset/15"},
    [DIABETES] = {"Diabetes 130", "101,766 stays in 130 hospitals, and who came back",
                  "see its page",
                  "get \"Diabetes 130-US Hospitals\" from https://archive.ics.uci.edu/dataset/296"},
    [SCHOOL] =
        {"School", "exam scores of 15,362 pupils of 139 London schools", "not stated",
         "it comes with multi-task learning code, such as MALSAR and that of Argyriou, Evgeniou "
         "and Pontil; the survey is from the Centre for Multilevel Modelling, Bristol"},
    [BUYERS] = {"Computer buyers", "190 people on 20 computers they might buy", "not stated",
                "the conjoint survey of Lenk, DeSarbo, Green and Young (1996), shared with "
                "multi-task learning code"},
    [HOUSING] =
        {"California housing",
         "20,640 blocks of the census of 1990 and what a house cost (Pace and Barry, 1997)",
         "not stated",
         "get cal_housing.tgz from https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.html"},
    [SVMGUIDE] =
        {"svmguide3", "1,243 + 41 records, two classes", "not stated",
         "get it from https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html"},
    [INSTEVAL] = {"InstEval", "73,421 ratings of lecturers by 2,972 students of ETH Zurich",
                  "that of the R package lme4",
                  "write the data set InstEval of the R package lme4 with write.csv"},
    [LENDING] = {"Lending Club", "loans, what they cost and how they ended", "see their sources",
                 "the R packages openintro (loans_full_schema) and modeldata (lending_club); "
                 "LoanStats3a was published by Lending Club"},
    [TRIPADVISOR] = {"TripAdvisor", "ratings of hotels, as a whole and by aspect",
                     "MIT (this sample)",
                     "a sample shared with code for multi-criteria recommendation; the reviews "
                     "were collected by Wang, Lu and Zhai (2010)"},
    [SPARCS] = {"SPARCS 2016", "discharges from hospitals of New York State", "see its page",
                "\"Hospital Inpatient Discharges (SPARCS De-Identified): 2016\" on "
                "https://health.data.ny.gov"},
    [AVAZU] =
        {"Avazu", "clicks on advertisements", "rules of the competition",
         "\"Click-Through Rate Prediction\" on https://www.kaggle.com/c/avazu-ctr-prediction"},
};
const size_t tacit_known_set_count = sizeof tacit_known_sets / sizeof *tacit_known_sets;

#define OF(set, name, digest)                \
    {                                        \
        digest, name, &tacit_known_sets[set] \
    }
const tacit_known_file tacit_known_files[] = {
    // clang-format off
    OF(MOVIELENS, "u.data",
       "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490"),
    OF(MOVIELENS, "u.item",
       "553841ebc7de3a0fd0d6b62a204ea30c1e651aacfb2814c7a6584ac52f2c5701"),
    OF(MOVIELENS, "u.user",
       "f120e114da2e8cf314fd28f99417c94ae9ddf1cb6db8ce0e4b5995d40e90e62c"),
    OF(MNIST, "t10k-images-idx3-ubyte",
       "d815adbb3188b5bafed15d649960a5dbcb0f9138b9a4205b88b175001cb394c9"),
    OF(MNIST, "t10k-images-idx3-ubyte",
       "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
    OF(MNIST, "t10k-images-idx3-ubyte",
       "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
    OF(MNIST, "t10k-labels-idx1-ubyte",
       "f2edae9ce0307abae4671a37b70e6e3858696b48b16c3cfdfef97388dc9925d5"),
    OF(MNIST, "t10k-labels-idx1-ubyte",
       "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
    OF(MNIST, "t10k-labels-idx1-ubyte",
       "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
    OF(MNIST, "train-images-idx3-ubyte",
       "8f41e9b4abc124dc3d209e86f7ea714a81f80edea40b565a4781dec7bd67c6e2"),
    OF(MNIST, "train-images-idx3-ubyte",
       "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
    OF(MNIST, "train-images-idx3-ubyte",
       "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
    OF(MNIST, "train-labels-idx1-ubyte",
       "dcd3d8184fe1a8be6231f172fb3390116f91c127282fd736ab55752c179963d8"),
    OF(MNIST, "train-labels-idx1-ubyte",
       "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
    OF(MNIST, "train-labels-idx1-ubyte",
       "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
    OF(QMNIST, "qmnist-test-labels-idx2-int",
       "9fbcbe594c3766fdf4f0b15c5165dc0d1e57ac604e01422608bb72c906030d06"),
    OF(QMNIST, "qmnist-test-labels-idx2-int",
       "92d0ccb8c25f9c6534270fb4be7e1d24a1c6d315edfc8a638bfbd31c70f362dd"),
    OF(QMNIST, "qmnist-train-labels-idx2-int",
       "2c05dc77f6b916b38e455e97ab129a42a444f3dbef09b278a366f82904e0dd9f"),
    OF(QMNIST, "qmnist-train-labels-idx2-int",
       "bb1b6e1ec7b04fd5696f1ed50b5f58f8ef195118edd5c93c81783df9740b8ac5"),
    OF(HAR, "X_test.txt",
       "f9dc7bad2c998d283cbd5f38d95116fba939b6c7cee50f010e96fcbba883635b"),
    OF(HAR, "X_test.txt",
       "99035209add50d17650e847d8a4658d784a5707466ebb7c2deb97c28e5250a78"),
    OF(HAR, "X_train.txt",
       "2fa27c630e8407a7fa8455784d5064517a3800da3dc53c4731852f7da8a4682f"),
    OF(HAR, "X_train.txt",
       "9c1246099c8d5463779eec5a3845cc3898df9d8c715441ab2a1232d4421fc42f"),
    OF(HAR, "subject_test.txt",
       "63b8c577f4a85431c06bd87f6384608c90a9f72f05c7956dd21255dc63515c07"),
    OF(HAR, "subject_train.txt",
       "66e1e2fbe9b396fa5155f531dc3348c803f503be663e2318772d49947db9153a"),
    OF(HAR, "y_test.txt",
       "2a94cb53ca46b956c1b2aebd4a09a72badd8a8e9ea9cdfe9f31b3306a08666bb"),
    OF(HAR, "y_train.txt",
       "415b3357e2e2d5e70a45c781947c6bdd80e0410a579d862eedcd6bbce3c694ef"),
    OF(BREAST_CANCER, "breast-cancer-wisconsin.data",
       "402c585309c399237740f635ef9919dc512cca12cbeb20de5e563a4593f22b64"),
    OF(DIABETES, "IDs_mapping.csv",
       "f1bb82b471cb34649352597572c9b1fb00bd27f77b9f5a22a03dc3eb1039749e"),
    OF(DIABETES, "diabetic_data.csv",
       "8946bd32fa189e1ce96cf9228d49f8e957cb748d80d2ccf9211472ed99f1c3a9"),
    OF(DIABETES, "diabetic_data.csv",
       "0689e7ec031237dc63031b938805c48377748761a3b26acab621567afa24df97"),
    OF(SCHOOL, "argyriou_school_10_indexes.mat",
       "b408742eab66cd124563493057b080fd39e5075f48b4c391c53e5f6a1a4c8df1"),
    OF(SCHOOL, "argyriou_school_1_indexes.mat",
       "030c9ca0a73d6264aa1eeac49aba1d760a1b5692cd3124667e74a7a2b7751bc5"),
    OF(SCHOOL, "argyriou_school_2_indexes.mat",
       "63d3a076a4cdd3de81825d3cf0c030b93bdc60e912eaed4763ee224efab163f8"),
    OF(SCHOOL, "argyriou_school_3_indexes.mat",
       "f7f68e3adb50db8094e230c2b83d548790379cd93ad98fadb35ff2999762dbe6"),
    OF(SCHOOL, "argyriou_school_4_indexes.mat",
       "02643928224056a61e25dec8d4841dba5195ed9affdc76fdc697854a2506d142"),
    OF(SCHOOL, "argyriou_school_5_indexes.mat",
       "6ed00a453d582dce4397f6f49120cff803c22f53cfb2dd63a3826c359c24bcdf"),
    OF(SCHOOL, "argyriou_school_6_indexes.mat",
       "ca853babe5b7f0f5812e7f4261f8b5e5728f1b3b06711e56a76b27b7f959f379"),
    OF(SCHOOL, "argyriou_school_7_indexes.mat",
       "b72105509c70f94f48c7c8b0e1359c6c0ea630c7ac588337b412f946ede62283"),
    OF(SCHOOL, "argyriou_school_8_indexes.mat",
       "8ad60073b135220f1a6f49fdd79b4430b6a0c8ce9925a22dcc5a09141f5b1c04"),
    OF(SCHOOL, "argyriou_school_9_indexes.mat",
       "0de74247d93c413b690ebb65e2e7beb1c55f05b2a2d5db46469e673a552cccf2"),
    OF(SCHOOL, "argyriou_school_b.mat",
       "973f1ca99d0d41a838ec6ae86001a48e7b69391eb74646b9e4fc54f62866a146"),
    OF(SCHOOL, "school.mat",
       "57fb3238fdd03a9aa17276e2ce18d9bbb5d128c3261e794fe6233b58b6909068"),
    OF(BUYERS, "ComputerDataZ.txt",
       "4e5dacc7d927c8a03b52befa13ac9596af53aa2863a6b631e6207f4b4bacfb78"),
    OF(BUYERS, "DesignMatrix.txt",
       "296701fced99c5c8f714a75d975db5835afcf2e1e38d90ea9c2420e6f0f6ac8b"),
    OF(BUYERS, "LikeBuy.txt",
       "93028fe1eaf9e7112b4585858eda3707f2936585adf97adee3d204ccdecaa128"),
    OF(BUYERS, "conjointAnalysisComputerBuyers.mat",
       "6e6b5f98f438c7d15ed6c7adab44322c9345f52263a4f3026322019f184679b5"),
    OF(HOUSING, "cal_housing.data",
       "d3d8a1a722ae78f91134862727d27a70b1415e7d512a89140406248687f4b902"),
    OF(SVMGUIDE, "svmguide3",
       "e46b0f7da5f5f9dfd640a9a738d0006fcd1e0b87eae8e055c124a240f3aa3a4c"),
    OF(SVMGUIDE, "svmguide3.t",
       "cee704e709725edbb8d200f5973e3bae83691aea1e15dbba121d6d8629110cd5"),
    OF(INSTEVAL, "InstEval.csv",
       "78dbe99f11bc6b9108f2785823cf2ae86aad35314f2f8a0ae3041873782399c7"),
    OF(LENDING, "LoanStats3a_16cols.csv",
       "0838aaa5ec935ab420c307b5618237ba411425b4a07efd9378c13df1ce501d19"),
    OF(LENDING, "LoanStats3a_16cols.csv",
       "30577c795ee7c85dc600329dd7c25395a83751496cfe7f23678582366ec5d8a5"),
    OF(LENDING, "lending_club_modeldata.csv",
       "06ce4edfcf2a80d2daceab44b6100034e026df59e9ab2d61c7ab1514bb9a4d3f"),
    OF(LENDING, "loans_full_schema.csv",
       "fe71c9cf229730b80d77ac52db9ba98dd570c7aa9f61fae8466cfc0f746deb84"),
    OF(LENDING, "loans_full_schema.csv",
       "94a859d9612c62c74c574ca6e524459515f70bd6b3cc25baacf3f834550c9847"),
    OF(TRIPADVISOR, "TA5_rating.inter",
       "f5b0588612384cc5f39cc5458f15c1f5272b42b788efd7d2fa948be9ec59eafb"),
    OF(SPARCS, "sparcs_2016_random1000.csv",
       "32246a57c1eadf3a010d897d8c5c1dae9e68fdabd78760c6c0642d4776e7e6b9"),
    OF(AVAZU, "avazu_sample_dev.csv",
       "1dbd14ef356202a106766d175ab20dfa182838c8cf77e6b018dd18df05c7e757"),
    OF(AVAZU, "avazu_sample_test.csv",
       "9c81e37b0766fb1daa430706c0c8188046e6daf6a295ab667687d87dada32f35"),
    OF(AVAZU, "avazu_sample_train.csv",
       "49fb8cdcadfd9030a6fcb8cd97fe8205d94b84723ee8292e229d741ce1362e4f"),
    // clang-format on
};
const size_t tacit_known_file_count = sizeof tacit_known_files / sizeof *tacit_known_files;

void tacit_sha256_hex(const void *bytes, size_t len, char hex[TACIT_SHA256_HEX])
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(digest, bytes, len);
    sodium_bin2hex(hex, TACIT_SHA256_HEX, digest, sizeof digest);
}

const tacit_known_file *tacit_known_find_sha256(const char *hex)
{
    for (size_t k = 0; k < tacit_known_file_count; k++) {
        if (strcmp(tacit_known_files[k].sha256, hex) == 0)
            return &tacit_known_files[k];
    }
    return NULL;
}

const tacit_known_file *tacit_known_recognise(const void *bytes, size_t len)
{
    char hex[TACIT_SHA256_HEX];
    tacit_sha256_hex(bytes, len, hex);
    return tacit_known_find_sha256(hex);
}

const tacit_known_file *tacit_known_named(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t len = strlen(name);
    if (len > 3 && (strcmp(name + len - 3, ".gz") == 0 || strcmp(name + len - 3, ".xz") == 0))
        len -= 3;
    for (size_t k = 0; k < tacit_known_file_count; k++) {
        const char *known = tacit_known_files[k].name;
        if (strlen(known) == len && memcmp(known, name, len) == 0)
            return &tacit_known_files[k];
    }
    return NULL;
}

void tacit_known_hint(const char *path, char *out, size_t size)
{
    const tacit_known_file *file = tacit_known_named(path);
    if (size > 0)
        out[0] = '\0';
    if (file)
        snprintf(out, size, "; %s is of %s: %s", file->name, file->set->name, file->set->source);
}

/* ---- looking at a file ---- */

#define PIECE ((size_t)1 << 16)

static tacit_status hash_file(tacit_file_facts *out, int fd, const char *path, tacit_error *err)
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_state state;
    unsigned char *piece = malloc(PIECE);
    if (!piece)
        return tacit_out_of_memory(err);
    crypto_hash_sha256_init(&state);
    ssize_t n;
    while ((n = read(fd, piece, PIECE)) > 0 || (n < 0 && errno == EINTR)) {
        crypto_hash_sha256_update(&state, piece, n > 0 ? (size_t)n : 0);
        out->bytes += n > 0 ? (uint64_t)n : 0;
    }
    free(piece);
    if (n < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot read \"%.300s\": %s", path, strerror(errno));
    crypto_hash_sha256_final(&state, digest);
    sodium_bin2hex(out->sha256, sizeof out->sha256, digest, sizeof digest);
    return TACIT_OK;
}

/* A file that was packed anew: what is inside may still be what we know. */
static const tacit_known_file *recognise_inside(const char *path, const char *folder)
{
    tacit_bytes bytes;
    const tacit_known_file *known = NULL;
    if (tacit_bytes_load(&bytes, path, folder, NULL, NULL) == TACIT_OK)
        known = tacit_known_recognise(tacit_bytes_at(&bytes), bytes.len);
    tacit_bytes_clear(&bytes);
    return known;
}

tacit_status tacit_known_inspect(tacit_file_facts *out, const char *path, const char *folder,
                                 tacit_error *err)
{
    char inside[2 * TACIT_TEXT_MAX];
    struct stat about;
    *out = (tacit_file_facts){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT && folder[0] && path[0] != '/') {
        snprintf(inside, sizeof inside, "%s/%s", folder, path);
        fd = open(inside, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    }
    if (fd < 0) {
        char hint[300];
        tacit_known_hint(path, hint, sizeof hint);
        return tacit_fail(err, TACIT_EINPUT, "cannot open \"%.200s\": %s%s", path, strerror(errno),
                          hint);
    }
    tacit_status status = TACIT_OK;
    bool regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    if (regular)
        status = hash_file(out, fd, path, err);
    close(fd);
    if (status || !regular)
        return status;
    const tacit_known_file *named = tacit_known_named(path);
    out->known = tacit_known_find_sha256(out->sha256);
    if (!out->known && named)
        out->known = recognise_inside(path, folder);
    out->named = out->known ? NULL : named;
    return TACIT_OK;
}
