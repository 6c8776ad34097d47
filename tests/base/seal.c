/* SPDX-License-Identifier: BSD-3-Clause */
/* Sealed records, by both ciphers and in both modes: what was sent is what comes out; a record with any bit flipped,
 * left out, repeated, moved, cut short, by another key or in another mode does not open, nor does any after it. */
#define _GNU_SOURCE
#include "base/seal.h"

#include "unit.h"

enum { RECORDS = 40, BYTES_MAX = 70000, SMALL = 33 };

static const unsigned char key[MUR_SEAL_KEY_BYTES] = {1, 2, 3}, other_key[MUR_SEAL_KEY_BYTES] = {1, 2, 4};
static enum mur_cipher cipher;
static enum mur_seal_mode mode;

struct record {
    size_t bytes;
    unsigned char data[BYTES_MAX], sealed[MUR_RECORD_HEAD + BYTES_MAX];
};
static struct record records[RECORDS];

static struct mur_sealer start(const unsigned char *with)
{
    struct mur_sealer sealer;

    mur_sealer_start(&sealer, with, cipher, mode);
    return sealer;
}

static void seal_all(struct mur_sealer *sealer, size_t bytes_max)
{
    for (int i = 0; i < RECORDS; i++) {
        records[i].bytes = below(bytes_max + 1);
        for (size_t at = 0; at < records[i].bytes; at++)
            records[i].data[at] = (unsigned char)below(256);
        CHECK(mur_sealer_seal(sealer, records[i].sealed, records[i].data, records[i].bytes) ==
              MUR_RECORD_HEAD + records[i].bytes);
        CHECK(mur_record_length(records[i].sealed) == records[i].bytes);
    }
}

/* Whether the record opens, as what was sealed; a wrong one never comes out. */
static bool opens(struct mur_sealer *sealer, const struct record *record)
{
    static unsigned char data[BYTES_MAX];

    if (mur_record_length(record->sealed) > BYTES_MAX || !mur_sealer_open(sealer, record->sealed, data))
        return false;
    CHECK(mur_record_length(record->sealed) == record->bytes);
    CHECK(memcmp(data, record->data, record->bytes) == 0);
    return true;
}

static void all_come_out(void)
{
    struct mur_sealer sealer = start(key), opener = start(key);

    seal_all(&sealer, BYTES_MAX);
    for (int i = 0; i < RECORDS; i++)
        CHECK(opens(&opener, &records[i]));
    mur_sealer_end(&sealer);
    mur_sealer_end(&opener);
}

static void is_encrypted_or_not(void)
{
    static const char words[] = "these are the words of a message";
    struct mur_sealer sealer = start(key);
    unsigned char sealed[MUR_RECORD_HEAD + sizeof words];
    size_t bytes = mur_sealer_seal(&sealer, sealed, words, sizeof words);

    CHECK((memmem(sealed, bytes, "words", 5) == NULL) == (mode == MUR_SEAL_ENCRYPT));
}

static void no_bit_may_flip(void)
{
    struct mur_sealer sealer = start(key), opener = start(key);
    struct record *record = &records[0];

    seal_all(&sealer, SMALL);
    for (size_t bit = 0; bit < 8 * (MUR_RECORD_HEAD + record->bytes); bit++) {
        struct mur_sealer copy = opener;
        bool is_tried;

        record->sealed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CHECK(!opens(&copy, record));
        is_tried = mur_record_length(record->sealed) <= BYTES_MAX;
        record->sealed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CHECK(!is_tried || !opens(&copy, record)); /* its turn is over */
        CHECK(!is_tried || !opens(&copy, &records[1]));
    }
    CHECK(opens(&opener, record));
}

/* Whatever opens large records notices the same. */
static void no_large_record_may_change(void)
{
    for (int i = 0; i < 20; i++) {
        struct mur_sealer sealer = start(key), opener = start(key);
        struct record *record = &records[0];
        size_t bit;

        do
            seal_all(&sealer, BYTES_MAX);
        while (record->bytes < BYTES_MAX / 2);
        opener.count = sealer.count - RECORDS;
        bit = 8 * sizeof(uint32_t) + below(8 * (record->bytes + 16));
        record->sealed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CHECK(!opens(&opener, record));
        mur_sealer_end(&sealer);
        mur_sealer_end(&opener);
    }
}

static void order_is_kept(void)
{
    struct mur_sealer sealer = start(key), opener = start(key), copy;

    seal_all(&sealer, SMALL);
    CHECK(opens(&opener, &records[0]));
    copy = opener;
    CHECK(!opens(&copy, &records[0])); /* repeated */
    copy = opener;
    CHECK(!opens(&copy, &records[2])); /* one is left out */
    CHECK(!opens(&copy, &records[3]));
    copy = opener;
    CHECK(!opens(&copy, &records[2]) && !opens(&copy, &records[1])); /* swapped */
    CHECK(opens(&opener, &records[1]));
}

static void no_byte_is_cut(void)
{
    struct mur_sealer sealer = start(key), opener = start(key);
    struct record *record = &records[1];

    seal_all(&sealer, SMALL);
    CHECK(opens(&opener, &records[0]));
    for (uint32_t length = 0; length < SMALL; length++) {
        struct mur_sealer copy = opener;

        if (length == record->bytes)
            continue;
        memcpy(record->sealed, &length, sizeof length);
        CHECK(!opens(&copy, record));
    }
}

static void only_by_the_key(void)
{
    struct mur_sealer sealer = start(key), opener = start(other_key);

    seal_all(&sealer, SMALL);
    CHECK(!opens(&opener, &records[0]));
    mur_sealer_start(&opener, key, cipher, mode == MUR_SEAL_ENCRYPT ? MUR_SEAL_AUTHENTICATE : MUR_SEAL_ENCRYPT);
    do {
        sealer = start(key);
        seal_all(&sealer, SMALL);
    } while (!records[0].bytes); /* an empty record has the same tag in both modes */
    CHECK(!opens(&opener, &records[0]));
}

static void the_key_is_renewed(void)
{
    struct mur_sealer sealer = start(key), opener = start(key), old = start(key);

    sealer.count = opener.count = MUR_SEALER_RECORDS - 3;
    seal_all(&sealer, BYTES_MAX);
    CHECK(sealer.count == RECORDS - 3);
    CHECK(memcmp(sealer.key, key, sizeof key) != 0);
    for (int i = 0; i < RECORDS; i++)
        CHECK(opens(&opener, &records[i]));
    CHECK(!opens(&old, &records[3])); /* the first by the new key has the first number */
    mur_sealer_end(&sealer);
    mur_sealer_end(&opener);
}

int main(void)
{
    char complaint[400];

    unit_start();
    if (!mur_sealer_load(complaint, sizeof complaint)) {
        printf("%s\n", complaint);
        return 77;
    }
    printf("AES: %d\n", mur_sealer_has_aes());
    for (cipher = MUR_CIPHER_CHACHA; cipher <= (mur_sealer_has_aes() ? MUR_CIPHER_AES : MUR_CIPHER_CHACHA); cipher++)
        for (mode = MUR_SEAL_AUTHENTICATE; mode <= MUR_SEAL_ENCRYPT; mode++) {
            all_come_out();
            is_encrypted_or_not();
            no_bit_may_flip();
            no_large_record_may_change();
            order_is_kept();
            no_byte_is_cut();
            only_by_the_key();
            the_key_is_renewed();
        }
    return unit_end();
}
