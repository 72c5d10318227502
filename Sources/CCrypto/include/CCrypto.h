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

/// The number of bytes of a scalar of P-256, most significant first, and of a point: 4, x and y (SEC 1, 2.3.3).
#define CCRYPTO_P256_SCALAR 32
#define CCRYPTO_P256_POINT 65

/// Writes the residue of a number, most significant byte first, modulo the order of P-256's group.
///
/// All functions of P-256 return 0 on failure. The time of this one and of the next does not depend on the values of
/// scalars.
int ccrypto_p256_reduce(const uint8_t *number, size_t count, uint8_t *scalar);

/// Writes `scalar` times a point, or times the generator if `point` is NULL. It fails if the point is not on the curve,
/// or if either is zero.
int ccrypto_p256_multiply(const uint8_t *point, size_t count, const uint8_t *scalar, uint8_t *product);

/// Writes the sum of two points, or the difference if `negates`. It fails if one is not on the curve, or if the result
/// is zero.
int ccrypto_p256_add(const uint8_t *first, const uint8_t *second, int negates, uint8_t *sum);

/// Writes `count` bytes that scrypt (RFC 7914) derives from a password and a salt. Returns 0 on failure.
int ccrypto_scrypt(const uint8_t *password, size_t password_count, const uint8_t *salt, size_t salt_count,
                   uint64_t cost, uint64_t block_size, uint64_t parallelization, uint8_t *derived, size_t count);

/// Creates a P-256 key and a self-signed certificate for it (RFC 5280), both in PEM form for free(3).
///
/// `extensions` are `count` pairs of a name and a value, as in x509v3_config(5). Times are in seconds since 1970.
/// Returns 0 on failure, and then sets neither result.
int ccrypto_self_signed(const char *common_name, int64_t not_before, int64_t not_after, const char *const *extensions,
                        size_t count, char **certificate, char **key);

#endif
