/* SPDX-License-Identifier: BSD-3-Clause */
/* The block of special addresses, apart from what the libraries for other ABIs share (special.h). */
#include "fortran/fortran.h"

struct mur_special mur_fortran_special_block;
