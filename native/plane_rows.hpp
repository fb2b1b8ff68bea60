// Categories of up to 16 values once more, row by row as bit planes, so that the mismatches of many pairs of rows are counted
// column by column without unpacking them: counters are bit planes as well, and a full adder of 512 columns is two
// instructions. Sixteen pairs at a time make one carry into the counters that stand in memory. Genotypes take a quarter of
// the bytes that their codes take, and 1,024 columns of 4,000 rows stay in the second-level cache (16 -> 60 G elements/s there, 30 -> 120 with 2,000 rows).
#pragma once
#include "panels.hpp"

namespace nearhit::NEARHIT_ISA {

struct PlaneRows {
    static constexpr size_t VECTORS = 2, WORDS = VECTORS * LANES;   // of a stripe: words of 32 columns
    static constexpr size_t FEWEST_COLUMNS = 1024;   // fewer are counted in bytes before the counters here are read

    int planes = 0;
    size_t n_rows = 0, n_stripes = 0;
    Buffer<uint32_t> words;              // [stripe][row][plane][WORDS]

    PlaneRows(const Part& part, size_t rows)
        : planes(words_of(part.form)), n_rows(rows), n_stripes((part.n_groups + WORDS - 1) / WORDS),
          words(n_stripes * n_rows * row_size()) {}

    size_t row_size() const { return static_cast<size_t>(planes) * WORDS; }
    const uint32_t* stripe(size_t s) const { return words.data() + s * n_rows * row_size(); }

    // The rows of one panel, from where they are packed for distances: a stripe of it is in the cache.
    void pack(const Part& part, const Order& order, size_t p) {
        const size_t width = static_cast<size_t>(planes);
        for (size_t s = 0; s < n_stripes; ++s)
            for (size_t r = 0; r < PANEL && order.is_row(p * PANEL + r); ++r) {
                uint32_t* to = words.data() + (s * n_rows + order.row(p * PANEL + r)) * row_size();
                const size_t first = s * WORDS, n = std::min(WORDS, part.n_groups - first);
                const uint32_t* from = part.panel(p) + first * width * PANEL + r;
                for (size_t w = 0; w < width; ++w) {
                    for (size_t g = 0; g < n; ++g) to[w * WORDS + g] = from[(g * width + w) * PANEL];
                    std::fill(to + w * WORDS + n, to + (w + 1) * WORDS, 0u);
                }
            }
    }
};

// What is added up: a row and a neighbour of it. Those that weigh the same are counted together.
struct RowPair { uint32_t row, other; };

template <int P> class MismatchPlanes {
public:
    MismatchPlanes() { std::fill(&counters_[0][0], &counters_[0][0] + BITS * V, all(0)); }

    // Pairs 16 by 16; what is left over is made up for by rows that are compared with themselves.
    void count(const uint32_t* rows, const RowPair* pairs, size_t n) {
        for (; n >= 16; n -= 16, pairs += 16) {
            for (size_t i = 16; i < std::min<size_t>(n, 32); ++i) fetch(rows + pairs[i].other * (P * PlaneRows::WORDS));
            count16(rows, pairs);
        }
        if (!n) return;
        RowPair rest[16];
        for (size_t i = 0; i < 16; ++i) rest[i] = i < n ? pairs[i] : RowPair{pairs[0].row, pairs[0].row};
        count16(rows, rest);
    }

    // counts[bit][word]: of the column 32 * word + bit, after so many pairs.
    void read(size_t n_pairs, uint32_t (*counts)[PlaneRows::WORDS]) const {
        const int highest = static_cast<int>(std::bit_width(n_pairs)) - 1;
        for (int bit = 0; bit < 32; ++bit)
            for (int v = 0; v < V; ++v) {
                Vec count = all(0);
                for (int b = highest; b >= 0; --b) count = add(add(count, count), both(shifted(counters_[b][v], bit), all(1)));
                store(counts[bit] + v * LANES, count);
            }
    }

private:
    static constexpr int V = PlaneRows::VECTORS, BITS = 24;    // 2^24 pairs: more than wait at a time

    // Rows stand anywhere: those of the next sixteen are asked for while these are counted.
    static void fetch(const uint32_t* row) {
        for (size_t w = 0; w < P * PlaneRows::WORDS; w += 16) __builtin_prefetch(row + w);
    }

    void count16(const uint32_t* rows, const RowPair* pairs) {
        const auto mismatches = [&](size_t i, int v) {
            const uint32_t *x = rows + pairs[i].row * (P * PlaneRows::WORDS) + v * LANES, *y = rows + pairs[i].other * (P * PlaneRows::WORDS) + v * LANES;
            Vec unequal = differ(load(x), load(y));
            repeat<P - 1>([&](auto p) { unequal = or_differ(unequal, load(x + (p + 1) * PlaneRows::WORDS), load(y + (p + 1) * PlaneRows::WORDS)); });
            return unequal;
        };
        repeat<V>([&](auto v) {
            Vec sixteens;
            Vec (&c)[BITS][V] = counters_;
            const auto two = [&](size_t i) { return carry(c[0][v], mismatches(i, v), mismatches(i + 1, v)); };
            const auto four = [&](size_t i) { const Vec a = two(i); return carry(c[1][v], a, two(i + 2)); };
            const auto eight = [&](size_t i) { const Vec a = four(i); return carry(c[2][v], a, four(i + 4)); };
            const Vec a = eight(0);
            sixteens = carry(c[3][v], a, eight(8));
            for (int b = 4; b < BITS && any(sixteens); ++b) {
                const Vec more = both(c[b][v], sixteens);
                c[b][v] = differ(c[b][v], sixteens);
                sixteens = more;
            }
        });
    }
    // sum += a + b in each bit; returns what is carried.
    static Vec carry(Vec& sum, Vec a, Vec b) {
        const Vec carried = majority(sum, a, b);
        sum = differ(sum, a, b);
        return carried;
    }

    Vec counters_[BITS][V];
};

// sums[column of the part] += amount for each pair that differs there.
template <int P>
inline void add_mismatches(const PlaneRows& rows, const Part& part, const std::vector<RowPair>& pairs, int64_t amount, int64_t* sums) {
    uint32_t counts[32][PlaneRows::WORDS];
    for (size_t s = 0; s < rows.n_stripes; ++s) {
        MismatchPlanes<P> counter;
        counter.count(rows.stripe(s), pairs.data(), pairs.size());
        counter.read(pairs.size(), counts);
        const size_t first = s * PlaneRows::WORDS * 32, n = std::min(PlaneRows::WORDS * 32, part.columns.size() - first);
        for (size_t a = 0; a < n; ++a) sums[part.columns[first + a]] += amount * counts[a % 32][a / 32];
    }
}
inline void add_mismatches(const PlaneRows& rows, const Part& part, const std::vector<RowPair>& pairs, int64_t amount, int64_t* sums) {
    switch (rows.planes) {
        case 1: return add_mismatches<1>(rows, part, pairs, amount, sums);
        case 2: return add_mismatches<2>(rows, part, pairs, amount, sums);
        case 3: return add_mismatches<3>(rows, part, pairs, amount, sums);
        default: return add_mismatches<4>(rows, part, pairs, amount, sums);
    }
}

}  // namespace nearhit
