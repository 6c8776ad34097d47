/* SPDX-License-Identifier: BSD-3-Clause */
/* A certificate of the server's own, for those who have none. */
#ifndef MUR_MPIJOB_CERTIFICATE_H
#define MUR_MPIJOB_CERTIFICATE_H

/* Writes both files, in PEM, for this host's names and `host`; ends the program if that does not work. */
void mur_certificate_make(const char *certificate_path, const char *key_path, const char *host);

#endif
