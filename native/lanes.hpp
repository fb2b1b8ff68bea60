// The small vocabulary in which the tile kernels are written, once per instruction set.
//
// A lane is 32 bits and belongs to one pair of rows, so nothing is ever added across lanes. What differs between the
// instruction sets is only what stands here; one section is plain C++ for every other machine. The end is for sums and
// diffs that need more than 32 bits, written once over the compiler's own vectors.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(NEARHIT_AVX512) || defined(NEARHIT_AVX2) || defined(__SSE2__)
#include <immintrin.h>
#endif

namespace nearhit::NEARHIT_ISA {

// Calls f(0), f(1) ... f(N - 1) with compile-time numbers, so that arrays indexed by them can live in registers.
template <int N, class F> [[gnu::always_inline]] inline void repeat(F f) {
    [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
        (f(std::integral_constant<int, I>()), ...);
    }(std::make_integer_sequence<int, N>());
}

// How many targets and vectors of rows a register tile has, for groups of one word or of more: their sums, the words of
// the rows and one of a target have to fit the registers.
struct TileShape { int targets, vectors; };

#if defined(NEARHIT_AVX512)  // needs F, BW, VL, DQ, VNNI and VPOPCNTDQ

using Vec = __m512i;
constexpr int LANES = 16;
constexpr TileShape shape_of(int words) { return words > 1 ? TileShape{8, 2} : TileShape{6, 4}; }

inline Vec load(const uint32_t* p) { return _mm512_loadu_si512(p); }
inline void store(uint32_t* p, Vec a) { _mm512_storeu_si512(p, a); }
inline Vec all(uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }
inline Vec add(Vec a, Vec b) { return _mm512_add_epi32(a, b); }
inline Vec subtract(Vec a, Vec b) { return _mm512_sub_epi32(a, b); }
inline Vec times(Vec a, Vec b) { return _mm512_mullo_epi32(a, b); }
// |a - b| of codes up to 2^31
inline Vec apart(Vec a, Vec b) { return _mm512_abs_epi32(_mm512_sub_epi32(a, b)); }
inline Vec upper_half(Vec a) { return _mm512_srli_epi32(a, 16); }
inline Vec add_upper_bytes(Vec acc, Vec a) { return _mm512_dpbusd_epi32(acc, a, _mm512_set1_epi32(1 << 24)); }
inline Vec both(Vec a, Vec b) { return _mm512_and_si512(a, b); }
inline Vec smaller(Vec a, Vec b) { return _mm512_min_epi32(a, b); }
inline Vec differ(Vec a, Vec b) { return _mm512_xor_si512(a, b); }
inline Vec or_differ(Vec found, Vec a, Vec b) { return _mm512_ternarylogic_epi32(found, a, b, 0xF6); }
inline Vec differ(Vec a, Vec b, Vec c) { return _mm512_ternarylogic_epi32(a, b, c, 0x96); }
inline Vec majority(Vec a, Vec b, Vec c) { return _mm512_ternarylogic_epi32(a, b, c, 0xE8); }
inline Vec shifted(Vec a, int bits) { return _mm512_srl_epi32(a, _mm_cvtsi32_si128(bits)); }
inline bool any(Vec a) { return _mm512_test_epi32_mask(a, a) != 0; }
inline Vec add_bits(Vec acc, Vec a) { return _mm512_add_epi32(acc, _mm512_popcnt_epi32(a)); }
// acc - 2 * (the smaller of each pair of 16-bit halves)
inline Vec minus_twice_min16(Vec acc, Vec a, Vec b) {
    return _mm512_dpwssd_epi32(acc, _mm512_min_epi16(a, b), _mm512_set1_epi16(-2));
}
inline Vec add_unequal8(Vec acc, Vec a, Vec b) {
    const __m512i unequal = _mm512_min_epu8(_mm512_xor_si512(a, b), _mm512_set1_epi8(1));
    return _mm512_dpbusd_epi32(acc, unequal, _mm512_set1_epi8(1));
}
inline Vec add_unequal16(Vec acc, Vec a, Vec b) {
    const __m512i unequal = _mm512_min_epu16(_mm512_xor_si512(a, b), _mm512_set1_epi16(1));
    return _mm512_dpwssd_epi32(acc, unequal, _mm512_set1_epi16(1));
}
// one bit for each lane that is at most the limit, as signed numbers
inline uint32_t lanes_up_to(Vec a, int32_t limit) { return _mm512_cmple_epi32_mask(a, _mm512_set1_epi32(limit)); }
// bit p of each of 32 bytes
inline uint32_t plane_of_bytes(const uint8_t* bytes, int p) {
    return _mm256_test_epi8_mask(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes)),
                                 _mm256_set1_epi8(static_cast<char>(1 << p)));
}

#elif defined(NEARHIT_AVX2)

using Vec = __m256i;
constexpr int LANES = 8;
constexpr TileShape shape_of(int words) { return words > 1 ? TileShape{4, 2} : TileShape{6, 2}; }

inline Vec load(const uint32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
inline void store(uint32_t* p, Vec a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a); }
inline Vec all(uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
inline Vec add(Vec a, Vec b) { return _mm256_add_epi32(a, b); }
inline Vec subtract(Vec a, Vec b) { return _mm256_sub_epi32(a, b); }
inline Vec times(Vec a, Vec b) { return _mm256_mullo_epi32(a, b); }
inline Vec apart(Vec a, Vec b) { return _mm256_abs_epi32(_mm256_sub_epi32(a, b)); }
inline Vec upper_half(Vec a) { return _mm256_srli_epi32(a, 16); }
inline Vec add_upper_bytes(Vec acc, Vec a) { return _mm256_add_epi32(acc, _mm256_srli_epi32(a, 24)); }
inline Vec both(Vec a, Vec b) { return _mm256_and_si256(a, b); }
inline Vec smaller(Vec a, Vec b) { return _mm256_min_epi32(a, b); }
inline Vec differ(Vec a, Vec b) { return _mm256_xor_si256(a, b); }
inline Vec or_differ(Vec found, Vec a, Vec b) { return _mm256_or_si256(found, _mm256_xor_si256(a, b)); }
inline Vec differ(Vec a, Vec b, Vec c) { return _mm256_xor_si256(a, _mm256_xor_si256(b, c)); }
inline Vec majority(Vec a, Vec b, Vec c) { return _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(c, _mm256_or_si256(a, b))); }
inline Vec shifted(Vec a, int bits) { return _mm256_srl_epi32(a, _mm_cvtsi32_si128(bits)); }
inline bool any(Vec a) { return !_mm256_testz_si256(a, a); }
inline Vec sum_of_bytes(Vec acc, __m256i bytes) {
    const __m256i pairs = _mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1));
    return _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
inline Vec add_bits(Vec acc, Vec a) {  // bits of each nibble by table
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2,
                                           3, 2, 3, 3, 4);
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(a, nibble));
    const __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(a, 4), nibble));
    return sum_of_bytes(acc, _mm256_add_epi8(low, high));
}
inline Vec minus_twice_min16(Vec acc, Vec a, Vec b) {
    return _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_min_epi16(a, b), _mm256_set1_epi16(-2)));
}
inline Vec add_unequal8(Vec acc, Vec a, Vec b) {
    return sum_of_bytes(acc, _mm256_min_epu8(_mm256_xor_si256(a, b), _mm256_set1_epi8(1)));
}
inline Vec add_unequal16(Vec acc, Vec a, Vec b) {
    const __m256i unequal = _mm256_min_epu16(_mm256_xor_si256(a, b), _mm256_set1_epi16(1));
    return _mm256_add_epi32(acc, _mm256_madd_epi16(unequal, _mm256_set1_epi16(1)));
}
inline uint32_t lanes_up_to(Vec a, int32_t limit) {
    const __m256i beyond = _mm256_cmpgt_epi32(a, _mm256_set1_epi32(limit));
    return ~static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(beyond))) & 0xFFu;
}
inline uint32_t plane_of_bytes(const uint8_t* bytes, int p) {
    const __m256i cells = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
    return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_sll_epi16(cells, _mm_cvtsi32_si128(7 - p))));
}

#elif defined(__SSE2__)  // the x86-64 baseline

using Vec = __m128i;
constexpr int LANES = 4;
constexpr TileShape shape_of(int words) { return words > 1 ? TileShape{4, 2} : TileShape{6, 2}; }

inline Vec load(const uint32_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
inline void store(uint32_t* p, Vec a) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), a); }
inline Vec all(uint32_t x) { return _mm_set1_epi32(static_cast<int>(x)); }
inline Vec add(Vec a, Vec b) { return _mm_add_epi32(a, b); }
inline Vec subtract(Vec a, Vec b) { return _mm_sub_epi32(a, b); }
inline Vec times(Vec a, Vec b) {  // no 32-bit product before SSE4.1: even and odd lanes apart
    const __m128i even = _mm_mul_epu32(a, b);
    const __m128i odd = _mm_mul_epu32(_mm_srli_epi64(a, 32), _mm_srli_epi64(b, 32));
    return _mm_unpacklo_epi32(_mm_shuffle_epi32(even, 0x08), _mm_shuffle_epi32(odd, 0x08));
}
inline Vec apart(Vec a, Vec b) {
    const __m128i d = _mm_sub_epi32(a, b), sign = _mm_srai_epi32(d, 31);
    return _mm_sub_epi32(_mm_xor_si128(d, sign), sign);
}
inline Vec upper_half(Vec a) { return _mm_srli_epi32(a, 16); }
inline Vec add_upper_bytes(Vec acc, Vec a) { return _mm_add_epi32(acc, _mm_srli_epi32(a, 24)); }
inline Vec both(Vec a, Vec b) { return _mm_and_si128(a, b); }
inline Vec smaller(Vec a, Vec b) {
    const __m128i second = _mm_cmpgt_epi32(a, b);
    return _mm_or_si128(_mm_and_si128(second, b), _mm_andnot_si128(second, a));
}
inline Vec differ(Vec a, Vec b) { return _mm_xor_si128(a, b); }
inline Vec or_differ(Vec found, Vec a, Vec b) { return _mm_or_si128(found, _mm_xor_si128(a, b)); }
inline Vec differ(Vec a, Vec b, Vec c) { return _mm_xor_si128(a, _mm_xor_si128(b, c)); }
inline Vec majority(Vec a, Vec b, Vec c) { return _mm_or_si128(_mm_and_si128(a, b), _mm_and_si128(c, _mm_or_si128(a, b))); }
inline Vec shifted(Vec a, int bits) { return _mm_srl_epi32(a, _mm_cvtsi32_si128(bits)); }
inline bool any(Vec a) { return _mm_movemask_epi8(_mm_cmpeq_epi8(a, _mm_setzero_si128())) != 0xFFFF; }
inline Vec sum_of_bytes(Vec acc, __m128i bytes) {
    const __m128i low = _mm_set1_epi16(0xFF);
    const __m128i pairs = _mm_add_epi16(_mm_and_si128(bytes, low), _mm_srli_epi16(bytes, 8));
    return _mm_add_epi32(acc, _mm_madd_epi16(pairs, _mm_set1_epi16(1)));
}
inline Vec add_bits(Vec acc, Vec a) {  // bits of pairs, of nibbles, of bytes
    const __m128i m1 = _mm_set1_epi8(0x55), m2 = _mm_set1_epi8(0x33), m4 = _mm_set1_epi8(0x0F);
    __m128i x = _mm_sub_epi8(a, _mm_and_si128(_mm_srli_epi16(a, 1), m1));
    x = _mm_add_epi8(_mm_and_si128(x, m2), _mm_and_si128(_mm_srli_epi16(x, 2), m2));
    return sum_of_bytes(acc, _mm_and_si128(_mm_add_epi8(x, _mm_srli_epi16(x, 4)), m4));
}
inline Vec minus_twice_min16(Vec acc, Vec a, Vec b) {
    return _mm_add_epi32(acc, _mm_madd_epi16(_mm_min_epi16(a, b), _mm_set1_epi16(-2)));
}
inline Vec add_unequal8(Vec acc, Vec a, Vec b) {
    return sum_of_bytes(acc, _mm_min_epu8(_mm_xor_si128(a, b), _mm_set1_epi8(1)));
}
inline Vec add_unequal16(Vec acc, Vec a, Vec b) {
    const __m128i equal = _mm_cmpeq_epi16(a, b);  // -1 where equal
    const __m128i unequal = _mm_add_epi16(_mm_set1_epi16(1), equal);
    return _mm_add_epi32(acc, _mm_madd_epi16(unequal, _mm_set1_epi16(1)));
}
inline uint32_t lanes_up_to(Vec a, int32_t limit) {
    const __m128i beyond = _mm_cmpgt_epi32(a, _mm_set1_epi32(limit));
    return ~static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(beyond))) & 0xFu;
}
inline uint32_t plane_of_bytes(const uint8_t* bytes, int p) {
    uint32_t plane = 0;
    for (int half = 0; half < 2; ++half) {
        const __m128i cells = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + half);
        plane |= static_cast<uint32_t>(_mm_movemask_epi8(_mm_sll_epi16(cells, _mm_cvtsi32_si128(7 - p)))) << 16 * half;
    }
    return plane;
}

#else  // plain C++

struct Vec { uint32_t v[4]; };
constexpr int LANES = 4;
constexpr TileShape shape_of(int) { return {4, 2}; }

template <class F> inline Vec each(F f) {
    Vec r;
    for (int l = 0; l < LANES; ++l) r.v[l] = f(l);
    return r;
}
inline Vec load(const uint32_t* p) { return each([&](int l) { return p[l]; }); }
inline void store(uint32_t* p, Vec a) { std::memcpy(p, a.v, sizeof a.v); }
inline Vec all(uint32_t x) { return each([&](int) { return x; }); }
inline Vec add(Vec a, Vec b) { return each([&](int l) { return a.v[l] + b.v[l]; }); }
inline Vec subtract(Vec a, Vec b) { return each([&](int l) { return a.v[l] - b.v[l]; }); }
inline Vec times(Vec a, Vec b) { return each([&](int l) { return a.v[l] * b.v[l]; }); }
inline Vec apart(Vec a, Vec b) { return each([&](int l) { return a.v[l] < b.v[l] ? b.v[l] - a.v[l] : a.v[l] - b.v[l]; }); }
inline Vec upper_half(Vec a) { return each([&](int l) { return a.v[l] >> 16; }); }
inline Vec add_upper_bytes(Vec acc, Vec a) { return each([&](int l) { return acc.v[l] + (a.v[l] >> 24); }); }
inline Vec both(Vec a, Vec b) { return each([&](int l) { return a.v[l] & b.v[l]; }); }
inline Vec smaller(Vec a, Vec b) {
    return each([&](int l) { return static_cast<int32_t>(a.v[l]) < static_cast<int32_t>(b.v[l]) ? a.v[l] : b.v[l]; });
}
inline Vec differ(Vec a, Vec b) { return each([&](int l) { return a.v[l] ^ b.v[l]; }); }
inline Vec or_differ(Vec f, Vec a, Vec b) { return each([&](int l) { return f.v[l] | (a.v[l] ^ b.v[l]); }); }
inline Vec differ(Vec a, Vec b, Vec c) { return each([&](int l) { return a.v[l] ^ b.v[l] ^ c.v[l]; }); }
inline Vec majority(Vec a, Vec b, Vec c) { return each([&](int l) { return (a.v[l] & b.v[l]) | (c.v[l] & (a.v[l] | b.v[l])); }); }
inline Vec shifted(Vec a, int bits) { return each([&](int l) { return a.v[l] >> bits; }); }
inline bool any(Vec a) {
    for (int l = 0; l < LANES; ++l)
        if (a.v[l]) return true;
    return false;
}
inline Vec add_bits(Vec acc, Vec a) {
    return each([&](int l) { return acc.v[l] + static_cast<uint32_t>(__builtin_popcount(a.v[l])); });
}
inline Vec minus_twice_min16(Vec acc, Vec a, Vec b) {
    return each([&](int l) {
        const auto half = [](uint32_t x, int h) { return static_cast<int16_t>(x >> (16 * h)); };
        int32_t sum = 0;
        for (int h = 0; h < 2; ++h) sum += half(a.v[l], h) < half(b.v[l], h) ? half(a.v[l], h) : half(b.v[l], h);
        return acc.v[l] - 2u * static_cast<uint32_t>(sum);
    });
}
template <int WIDTH> inline Vec add_unequal(Vec acc, Vec a, Vec b) {
    return each([&](int l) {
        uint32_t count = 0;
        for (int bit = 0; bit < 32; bit += WIDTH) count += ((a.v[l] ^ b.v[l]) >> bit & ((1u << WIDTH) - 1)) != 0;
        return acc.v[l] + count;
    });
}
inline Vec add_unequal8(Vec acc, Vec a, Vec b) { return add_unequal<8>(acc, a, b); }
inline Vec add_unequal16(Vec acc, Vec a, Vec b) { return add_unequal<16>(acc, a, b); }
inline uint32_t lanes_up_to(Vec a, int32_t limit) {
    uint32_t mask = 0;
    for (int l = 0; l < LANES; ++l) mask |= static_cast<uint32_t>(static_cast<int32_t>(a.v[l]) <= limit) << l;
    return mask;
}
inline uint32_t plane_of_bytes(const uint8_t* bytes, int p) {
    uint32_t plane = 0;
    for (int a = 0; a < 32; ++a) plane |= static_cast<uint32_t>(bytes[a] >> p & 1) << a;
    return plane;
}

#endif

// ------------------------------------------------------------------------- codes as doubles, and doubles as integers

// To the nearest integer, halves to even, for |x| < 2^51: adding this leaves the integer in the low bits.
constexpr double ROUNDER = 6755399441055744.0;   // 1.5 * 2^52
constexpr uint64_t ROUNDER_BITS = std::bit_cast<uint64_t>(ROUNDER);
inline int64_t rounded(double x) { return static_cast<int64_t>(std::bit_cast<uint64_t>(x + ROUNDER) - ROUNDER_BITS); }

// Half a vector of codes, as many as there are doubles in a whole one.
constexpr int HALF = LANES / 2;
typedef uint32_t HalfCodes __attribute__((vector_size(4 * HALF), aligned(4), may_alias));
typedef uint64_t Integers __attribute__((vector_size(8 * HALF), aligned(8), may_alias));
typedef double Doubles __attribute__((vector_size(8 * HALF), may_alias));

inline Doubles as_doubles(HalfCodes x) {
#if defined(NEARHIT_AVX512)
    return (Doubles)_mm512_cvtepu32_pd((__m256i)x);   // gcc 12 makes two halves and joins them
#else   // no conversion of unsigned integers: put the code under the exponent of 2^52 and take 2^52 away
    return (Doubles)(__builtin_convertvector(x, Integers) | std::bit_cast<uint64_t>(0x1p52)) - 0x1p52;
#endif
}

}  // namespace nearhit
