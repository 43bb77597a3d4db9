/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_H
#define TACIT_H
/* Everything. */
#include "tacit/account.h"
#include "tacit/advise.h"
#include "tacit/audit.h"
#include "tacit/base.h"
#include "tacit/canary.h"
#include "tacit/checkpoint.h"
#include "tacit/config.h"
#include "tacit/consortium.h"
#include "tacit/data.h"
#include "tacit/eigen.h"
#include "tacit/env.h"
#include "tacit/experiment.h"
#include "tacit/graph.h"
#include "tacit/ledger.h"
#include "tacit/model.h"
#include "tacit/node.h"
#include "tacit/noise.h"
#include "tacit/privacy.h"
#include "tacit/protocol.h"
#include "tacit/random.h"
#include "tacit/reproduce.h"
#include "tacit/runtime.h"
#include "tacit/sweep.h"
#include "tacit/vector.h"
#endif
