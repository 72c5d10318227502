// The parts of OpenSSL's libcrypto that Swift needs, because half of its interface is macros. No policy.
#ifndef CCRYPTO_H
#define CCRYPTO_H

#include <stddef.h>
#include <stdint.h>

/// Writes the SHA-256 (FIPS 180-4) of `bytes` to `digest`, which must have room for 32 bytes. Returns 0 on failure,
/// such as a lack of memory.
int ccrypto_sha256(const uint8_t *bytes, size_t count, uint8_t *digest);

/// Writes the HMAC-SHA-256 (RFC 2104) of `bytes` to `code`, which must have room for 32 bytes. Returns 0 on failure.
int ccrypto_hmac_sha256(const uint8_t *key, int key_count, const uint8_t *bytes, size_t count, uint8_t *code);

/// Returns whether two sequences of `count` bytes are equal, in a time that does not depend on where they differ.
int ccrypto_is_equal(const uint8_t *first, const uint8_t *second, size_t count);

/// Creates a P-256 key and a self-signed certificate for it (RFC 5280), both in PEM form for free(3).
///
/// `extensions` are `count` pairs of a name and a value, as in x509v3_config(5). Times are in seconds since 1970.
/// Returns 0 on failure, and then sets neither result.
int ccrypto_self_signed(const char *common_name, int64_t not_before, int64_t not_after, const char *const *extensions,
                        size_t count, char **certificate, char **key);

#endif
