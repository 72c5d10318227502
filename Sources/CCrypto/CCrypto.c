#include "CCrypto.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

/// The number of bytes of a certificate's serial number: RFC 5280, section 4.1.2.2, allows 20 with the first bit 0.
enum { serial_length = 16 };

int ccrypto_sha256(const uint8_t *bytes, size_t count, uint8_t *digest) {
    return SHA256(bytes, count, digest) != NULL;
}

int ccrypto_hmac_sha256(const uint8_t *key, int key_count, const uint8_t *bytes, size_t count, uint8_t *code) {
    return HMAC(EVP_sha256(), key, key_count, bytes, count, code, NULL) != NULL;
}

int ccrypto_is_equal(const uint8_t *first, const uint8_t *second, size_t count) {
    return CRYPTO_memcmp(first, second, count) == 0;
}

/// What the functions of P-256 compute with. Release it with ``curve_free``.
struct curve {
    EC_GROUP *group;
    BN_CTX *context;
};

static struct curve curve_new(void) {
    return (struct curve){EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1), BN_CTX_secure_new()};
}

static int curve_is_ready(struct curve curve) { return curve.group != NULL && curve.context != NULL; }

static void curve_free(struct curve curve) {
    EC_GROUP_free(curve.group);
    BN_CTX_free(curve.context);
}

/// Returns a point for EC_POINT_clear_free(3), or NULL if the bytes are none on the curve.
static EC_POINT *read_point(struct curve curve, const uint8_t *bytes, size_t count) {
    EC_POINT *point = EC_POINT_new(curve.group);
    // The point at infinity is one byte long.
    if (point != NULL && count > 1 && EC_POINT_oct2point(curve.group, point, bytes, count, curve.context) == 1) {
        return point;
    }
    EC_POINT_free(point);
    return NULL;
}

/// Writes a point, which must not be the one at infinity.
static int write_point(struct curve curve, const EC_POINT *point, uint8_t *bytes) {
    return EC_POINT_point2oct(curve.group, point, POINT_CONVERSION_UNCOMPRESSED, bytes, CCRYPTO_P256_POINT,
                              curve.context)
        == CCRYPTO_P256_POINT;
}

int ccrypto_p256_reduce(const uint8_t *number, size_t count, uint8_t *scalar) {
    struct curve curve = curve_new();
    BIGNUM *value = BN_secure_new();
    int done = 0;
    if (curve_is_ready(curve) && value != NULL && BN_bin2bn(number, (int)count, value) != NULL) {
        BN_set_flags(value, BN_FLG_CONSTTIME);
        done = BN_nnmod(value, value, EC_GROUP_get0_order(curve.group), curve.context) == 1
            && BN_bn2binpad(value, scalar, CCRYPTO_P256_SCALAR) == CCRYPTO_P256_SCALAR;
    }
    BN_clear_free(value);
    curve_free(curve);
    return done;
}

int ccrypto_p256_multiply(const uint8_t *point, size_t count, const uint8_t *scalar, uint8_t *product) {
    struct curve curve = curve_new();
    BIGNUM *factor = BN_secure_new();
    int done = 0;
    if (curve_is_ready(curve) && factor != NULL && BN_bin2bn(scalar, CCRYPTO_P256_SCALAR, factor) != NULL) {
        BN_set_flags(factor, BN_FLG_CONSTTIME);
        EC_POINT *base = point == NULL ? NULL : read_point(curve, point, count);
        EC_POINT *result = EC_POINT_new(curve.group);
        // One factor at a time: with two, EC_POINT_mul(3) is not of constant time.
        done = result != NULL && (point == NULL || base != NULL)
            && EC_POINT_mul(curve.group, result, point == NULL ? factor : NULL, base, point == NULL ? NULL : factor,
                            curve.context)
                == 1
            && write_point(curve, result, product);
        EC_POINT_clear_free(base);
        EC_POINT_clear_free(result);
    }
    BN_clear_free(factor);
    curve_free(curve);
    return done;
}

int ccrypto_p256_add(const uint8_t *first, const uint8_t *second, int negates, uint8_t *sum) {
    struct curve curve = curve_new();
    int done = 0;
    if (curve_is_ready(curve)) {
        EC_POINT *one = read_point(curve, first, CCRYPTO_P256_POINT);
        EC_POINT *other = read_point(curve, second, CCRYPTO_P256_POINT);
        done = one != NULL && other != NULL
            && (!negates || EC_POINT_invert(curve.group, other, curve.context) == 1)
            && EC_POINT_add(curve.group, one, one, other, curve.context) == 1 && write_point(curve, one, sum);
        EC_POINT_clear_free(one);
        EC_POINT_clear_free(other);
    }
    curve_free(curve);
    return done;
}

int ccrypto_scrypt(const uint8_t *password, size_t password_count, const uint8_t *salt, size_t salt_count,
                   uint64_t cost, uint64_t block_size, uint64_t parallelization, uint8_t *derived, size_t count) {
    // 0: the library's own limit of 32 MiB.
    return EVP_PBE_scrypt((const char *)password, password_count, salt, salt_count, cost, block_size,
                          parallelization, 0, derived, count)
        == 1;
}

/// Returns the bytes of `bio` as a string for free(3), or NULL on failure.
static char *text_of(BIO *bio) {
    char *bytes = NULL;
    long count = BIO_get_mem_data(bio, &bytes);
    char *text = count > 0 ? malloc((size_t)count + 1) : NULL;
    if (text == NULL) return NULL;
    memcpy(text, bytes, (size_t)count);
    text[count] = 0;
    return text;
}

static int set_serial(X509 *certificate) {
    uint8_t bytes[serial_length];
    if (RAND_bytes(bytes, sizeof bytes) != 1) return 0;
    bytes[0] = (bytes[0] & 0x7f) | 0x40;
    BIGNUM *number = BN_bin2bn(bytes, sizeof bytes, NULL);
    int done = number != NULL && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
    BN_free(number);
    return done;
}

static int add_extensions(X509 *certificate, const char *const *extensions, size_t count) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    for (size_t pair = 0; pair < count; pair++) {
        X509_EXTENSION *extension =
            X509V3_EXT_conf(NULL, &context, extensions[2 * pair], extensions[2 * pair + 1]);
        int done = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
        X509_EXTENSION_free(extension);
        if (!done) return 0;
    }
    return 1;
}

static int fill(X509 *certificate, EVP_PKEY *key, const char *common_name, int64_t not_before, int64_t not_after,
                const char *const *extensions, size_t count) {
    X509_NAME *name = X509_get_subject_name(certificate);
    return X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate)
        && ASN1_TIME_set(X509_getm_notBefore(certificate), (time_t)not_before) != NULL
        && ASN1_TIME_set(X509_getm_notAfter(certificate), (time_t)not_after) != NULL
        && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)common_name, -1, -1, 0) == 1
        && X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1
        && add_extensions(certificate, extensions, count) && X509_sign(certificate, key, EVP_sha256()) > 0;
}

int ccrypto_self_signed(const char *common_name, int64_t not_before, int64_t not_after, const char *const *extensions,
                        size_t count, char **certificate_text, char **key_text) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    BIO *certificate_bytes = BIO_new(BIO_s_mem()), *key_bytes = BIO_new(BIO_s_mem());
    char *texts[2] = {NULL, NULL};
    if (key != NULL && certificate != NULL && certificate_bytes != NULL && key_bytes != NULL
        && fill(certificate, key, common_name, not_before, not_after, extensions, count)
        && PEM_write_bio_X509(certificate_bytes, certificate) == 1
        && PEM_write_bio_PKCS8PrivateKey(key_bytes, key, NULL, NULL, 0, NULL, NULL) == 1) {
        texts[0] = text_of(certificate_bytes);
        texts[1] = text_of(key_bytes);
    }
    int done = texts[0] != NULL && texts[1] != NULL;
    if (done) {
        *certificate_text = texts[0];
        *key_text = texts[1];
    } else {
        free(texts[0]);
        free(texts[1]);
    }
    // This also erases the key from memory: the buffers of BIO_s_mem are cleared when they are freed.
    BIO_free(certificate_bytes);
    BIO_free(key_bytes);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return done;
}
