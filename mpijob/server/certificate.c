/* SPDX-License-Identifier: BSD-3-Clause */
/* A certificate that is signed by its own key: clients are told to trust it by the kubeconfig. */
#include "mpijob/server/certificate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launch/say.h"

static void write_file(const char *path, const gnutls_datum_t *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

    if (fd < 0 || write(fd, text->data, text->size) != (ssize_t)text->size || close(fd) < 0)
        mur_quit(MUR_EXIT_TROUBLE, "cannot write %s: %s", path, strerror(errno));
}

static int add_address(gnutls_x509_crt_t certificate, const char *text)
{
    unsigned char address[16];

    if (inet_pton(AF_INET, text, address) == 1)
        return gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_IPADDRESS, address, 4, GNUTLS_FSAN_APPEND);
    if (inet_pton(AF_INET6, text, address) == 1)
        return gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_IPADDRESS, address, 16, GNUTLS_FSAN_APPEND);
    return gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME, text, (unsigned)strlen(text),
                                                GNUTLS_FSAN_APPEND);
}

static int fill(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, const char *host)
{
    const char *names[] = {"localhost", "127.0.0.1", "::1", host, NULL};
    unsigned char serial[8];
    char own[256] = "";
    int rc = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof serial);

    serial[0] &= 0x7f;
    gethostname(own, sizeof own - 1);
    gnutls_x509_crt_set_version(certificate, 3);
    gnutls_x509_crt_set_serial(certificate, serial, sizeof serial);
    gnutls_x509_crt_set_activation_time(certificate, time(NULL) - 3600);
    gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + 10L * 365 * 86400);
    gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, "mpijob serve", 12);
    for (int i = 0; rc >= 0 && names[i]; i++)
        if (*names[i])
            rc = add_address(certificate, names[i]);
    if (rc >= 0 && *own)
        rc = add_address(certificate, own);
    gnutls_x509_crt_set_basic_constraints(certificate, 1, -1);
    gnutls_x509_crt_set_key_usage(certificate, GNUTLS_KEY_DIGITAL_SIGNATURE | GNUTLS_KEY_KEY_CERT_SIGN);
    gnutls_x509_crt_set_key_purpose_oid(certificate, GNUTLS_KP_TLS_WWW_SERVER, 0);
    if (rc >= 0)
        rc = gnutls_x509_crt_set_key(certificate, key);
    return rc < 0 ? rc : gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0);
}

void mur_certificate_make(const char *certificate_path, const char *key_path, const char *host)
{
    gnutls_x509_crt_t certificate;
    gnutls_x509_privkey_t key;
    gnutls_datum_t text;
    int rc;

    gnutls_x509_crt_init(&certificate);
    gnutls_x509_privkey_init(&key);
    rc = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    if (rc >= 0)
        rc = fill(certificate, key, host);
    if (rc < 0)
        mur_quit(MUR_EXIT_TROUBLE, "a certificate cannot be made: %s", gnutls_strerror(rc));
    if (gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &text) >= 0) {
        write_file(key_path, &text, 0600);
        gnutls_free(text.data);
    }
    if (gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &text) >= 0) {
        write_file(certificate_path, &text, 0644);
        gnutls_free(text.data);
    }
    gnutls_x509_crt_deinit(certificate);
    gnutls_x509_privkey_deinit(key);
}
