// Distances of rows to all others: kept, each pair measured once, where all of them fit the bound on pair storage; and
// their means and squares, exactly, for members that look within a radius.
#pragma once
#include <atomic>

#include "chunk.hpp"
#include "search.hpp"

namespace nearhit::NEARHIT_ISA {

// The distances of one row to all others, with their weights: their sum, and the sum of their squares in two halves,
// because weighted squares may need more than 128 bits: high * 2^64 + low.
struct Moments {
    unsigned __int128 sum = 0, squares_low = 0, squares_high = 0;

    void add(uint64_t distance, int64_t weight) {
        const auto w = static_cast<uint64_t>(weight);
        const unsigned __int128 square = static_cast<unsigned __int128>(distance) * distance;
        sum += static_cast<unsigned __int128>(distance) * w;
        squares_low += static_cast<unsigned __int128>(static_cast<uint64_t>(square)) * w;
        squares_high += static_cast<unsigned __int128>(static_cast<uint64_t>(square >> 64)) * w;
    }

    // Up to 64 distances of weight 1, less that of a row to itself, without a product of more than 64 bits: a distance is
    // h * 2^26 + l, and under 2^54 for up to eight million columns.
    void add_panel(const uint64_t* distances, size_t n, size_t itself) {
        constexpr int HALF_BITS = 26;
        uint64_t s = 0, hh = 0, hl = 0, ll = 0;
        for (size_t i = 0; i < n; ++i) {
            const uint64_t d = i == itself ? 0 : distances[i], h = d >> HALF_BITS, l = d & ((1u << HALF_BITS) - 1);
            s += d;
            hh += h * h;
            hl += h * l;
            ll += l * l;
        }
        sum += s;
        unsigned __int128 squares = static_cast<unsigned __int128>(hh) << HALF_BITS;
        squares = ((squares + 2 * static_cast<unsigned __int128>(hl)) << HALF_BITS) + ll;
        squares_low += static_cast<uint64_t>(squares);
        squares_high += static_cast<uint64_t>(squares >> 64);
    }
};

// From both layers: the filter tells a distance to within its slack, full codes modulo 2^32.
inline uint64_t exact_distance(const Packed& k, uint32_t near, uint32_t modulo) {
    const uint64_t about = uint64_t{near} << k.filter.shift;
    return about + static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(modulo - static_cast<uint32_t>(about))));
}

// While distances are kept they are added up for both of their rows, exactly: sums of distances h * 2^23 + l, and of h * h,
// h * l and l * l. A distance has 46 bits at most (under 32,000 columns, or a count of mismatches, which is multiplied at the
// end), and there is no room to keep those of 2^17 rows.
struct KeptMoments {
    static constexpr int HALF_BITS = 23;
    std::vector<uint64_t> sum, high, mixed, low;               // per place

    explicit KeptMoments(size_t n = 0) : sum(n), high(n), mixed(n), low(n) {}

    // Those of one row to a panel of others, 0 for padding, for that row and for the others, unless these are met themselves.
    void add(const uint64_t* distances, size_t own, size_t first, bool both) {
        uint64_t s = 0, hh = 0, hl = 0, ll = 0;
        for (size_t i = 0; i < PANEL; ++i) {
            const uint64_t h = distances[i] >> HALF_BITS, l = distances[i] & ((1u << HALF_BITS) - 1);
            s += distances[i];
            hh += h * h;
            hl += h * l;
            ll += l * l;
        }
        add_to(own, s, hh, hl, ll);
        for (size_t i = 0; both && i < PANEL; ++i) {
            const uint64_t h = distances[i] >> HALF_BITS, l = distances[i] & ((1u << HALF_BITS) - 1);
            add_to(first + i, distances[i], h * h, h * l, l * l);
        }
    }
    // From many threads: whole numbers, so in any order.
    void merge_into(KeptMoments& all) const {
        const auto merge = [&](const std::vector<uint64_t>& from, std::vector<uint64_t>& to) {
            for (size_t i = 0; i < from.size(); ++i) std::atomic_ref(to[i]).fetch_add(from[i], std::memory_order_relaxed);
        };
        merge(sum, all.sum);
        merge(high, all.high);
        merge(mixed, all.mixed);
        merge(low, all.low);
    }
    // `unit`: what one is in a distance. Squares of counts have 60 bits, of units 62.
    Moments of(size_t place, uint64_t unit) const {
        unsigned __int128 squares = static_cast<unsigned __int128>(high[place]) << HALF_BITS;
        squares = (((squares + 2 * static_cast<unsigned __int128>(mixed[place])) << HALF_BITS) + low[place]) * unit * unit;
        return {static_cast<unsigned __int128>(sum[place]) * unit, static_cast<uint64_t>(squares), squares >> 64};
    }

private:
    void add_to(size_t i, uint64_t s, uint64_t hh, uint64_t hl, uint64_t ll) {
        sum[i] += s;
        high[i] += hh;
        mixed[i] += hl;
        low[i] += ll;
    }
};

// All distances of a complete table, each pair measured once for both of its rows; with what means of distances need, if the
// recipe asks for any.
class Kept {
public:
    // Room for all of them; then all stretches, perhaps on different threads; then they are used.
    size_t begin(Packed& k) {
        k.coarse.kept = Buffer<uint32_t>(k.order.n_places() * k.order.n_places());
        if (k.r.measures && !k.t.units) moments_ = KeptMoments(k.order.n_places());
        stretches_.clear();
        for (const Segment& s : k.order.classes)
            for (size_t p = 0; p < s.n_panels; p += PANELS_AT_A_TIME)
                stretches_.emplace_back(s.first_panel + p, s.first_panel + std::min(p + PANELS_AT_A_TIME, s.n_panels));
        return stretches_.size();
    }

    // From the rows of a stretch of panels, of one class, to those of the same and all later panels, and back.
    void measure(Packed& k, size_t stretch) {
        const auto [first, stop] = stretches_[stretch];
        const bool wants_moments = !moments_.sum.empty(), in_full = wants_moments && !k.filter.exact;
        std::vector<size_t> places;
        for (size_t place = first * PANEL; place < stop * PANEL && k.order.is_row(place); ++place) places.push_back(place);
        const size_t step = in_full ? std::min(panels_of_a_chunk(k.coarse.parts), panels_of_a_chunk(k.full.parts)) : panels_of_a_chunk(k.coarse.parts);
        ChunkSums near(k, k.coarse, nullptr, places.size(), step), modulo(k, k.full, nullptr, places.size(), step);
        KeptMoments moments(wants_moments ? k.order.n_places() : 0);
        near.read_targets(places);
        modulo.read_targets(places);
        for (size_t p = first; p < k.order.n_panels(); p += step) {
            const size_t end = std::min(p + step, k.order.n_panels());
            near.measure(p, end);
            if (in_full) modulo.measure(p, end);
            for (size_t t = 0; t < places.size(); ++t)
                for (size_t panel = p; panel < end; ++panel) {
                    const uint32_t* distances = keep(k, near.of(t, panel - p), places[t], panel);
                    if (wants_moments) add_moments(k, distances, modulo.of(t, panel - p), places[t], panel, panel >= stop, moments);
                }
            copy_back(k, places, std::max(p, stop), end, stop);
        }
        if (wants_moments) moments.merge_into(moments_);
    }

    bool has_moments() const { return !moments_.sum.empty(); }
    Moments moments(const Packed& k, size_t place) const { return moments_.of(place, k.filter.exact ? k.r.mismatch : 1); }

private:
    static constexpr size_t PANELS_AT_A_TIME = 2;

    // Distances in filter units: with what sums leave out, the target's own sum and the slack of the row.
    static const uint32_t* keep(Packed& k, const uint32_t* sums, size_t own_place, size_t panel) {
        Layer& layer = k.coarse;
        uint32_t* kept = layer.kept.data() + own_place * k.order.n_places() + panel * PANEL;
        for (size_t l = 0, at = panel * PANEL; l < PANEL; l += LANES, at += LANES) {
            const Vec own = load(layer.own.data() + at), slack = subtract(own, load(layer.starts.data() + at));
            store(kept + l, add(add(load(sums + l), all(layer.own[own_place])), slack));
        }
        return kept;
    }

    static void add_moments(const Packed& k, const uint32_t* near, const uint32_t* modulo, size_t own_place, size_t panel, bool both,
                            KeptMoments& moments) {
        uint64_t distances[PANEL];
        if (k.filter.exact) {
            for (size_t l = 0; l < PANEL; ++l) distances[l] = near[l];
        } else {
            for (size_t l = 0; l < PANEL; ++l) distances[l] = exact_distance(k, near[l], modulo[l] + k.full.own[own_place]);
        }
        for (size_t l = PANEL; l > 0 && !k.order.is_row(panel * PANEL + l - 1); --l) distances[l - 1] = 0;
        moments.add(distances, own_place, panel * PANEL, both);
    }

    static void copy_back(Packed& k, const std::vector<size_t>& places, size_t first, size_t end, size_t stop) {
        const size_t n = k.order.n_places();
        Buffer<uint32_t>& kept = k.coarse.kept;
        for (size_t place = first * PANEL; place < end * PANEL; ++place) {
            for (size_t own : places) kept[place * n + own] = kept[own * n + place];
            // Padding: what leaves the far start of a sum as it is.
            for (size_t own = places.back() + 1; own < stop * PANEL; ++own) kept[place * n + own] = k.coarse.own[place];
        }
    }

    std::vector<std::pair<size_t, size_t>> stretches_;
    KeptMoments moments_;
};

// Exact distances, measured in both layers.
class LayeredDistances {
public:
    LayeredDistances(const Packed& k, size_t batch, const uint32_t* toward, const uint32_t* toward_full)
        : k_(k), step_(std::min(k.panels_at_a_time(), panels_of_a_chunk(k.full.parts))),
          coarse_(k, k.coarse, toward, batch, step_), full_(k, k.full, toward_full, batch, step_) {}

    // found(target, place, distance) for all rows but the target itself.
    template <class Found> void measure(const std::vector<size_t>& places, Found found) {
        measure_panels(places, [&](size_t t, size_t first, size_t n, const uint64_t* distances) {
            for (size_t l = 0; l < n; ++l)
                if (first + l != places[t]) found(t, first + l, distances[l]);
        });
    }

    // found(target, first place, rows, distances) panel by panel.
    template <class Found> void measure_panels(const std::vector<size_t>& places, Found found) {
        coarse_.read_targets(places);
        full_.read_targets(places);
        for (size_t d = 0; d < k_.order.classes.size(); ++d) {
            const Segment& s = k_.order.classes[d];
            coarse_.enter_class(d);
            full_.enter_class(d);
            for (size_t p = s.first_panel; p < s.first_panel + s.n_panels; p += step_) {
                const size_t stop = std::min(p + step_, s.first_panel + s.n_panels);
                coarse_.measure(p, stop);
                full_.measure(p, stop);
                for (size_t t = 0; t < places.size(); ++t)
                    for (size_t panel = p; panel < stop; ++panel) {
                        const size_t n = std::min<size_t>(PANEL, s.first_place + s.n_rows - panel * PANEL);
                        found(t, panel * PANEL, n, distances(t, places[t], panel, panel - p));
                    }
            }
        }
    }

private:
    const uint64_t* distances(size_t t, size_t own, size_t panel, size_t of_chunk) {
        const uint32_t *near = coarse_.of(t, of_chunk), *modulo = full_.of(t, of_chunk);
        const int32_t* slack = k_.filter.slack.data() + panel * PANEL;
        const uint32_t own_near = k_.coarse.own[own];
        if (k_.filter.exact) {
            for (size_t l = 0; l < PANEL; ++l) distances_[l] = uint64_t{near[l] + own_near + static_cast<uint32_t>(slack[l])} * k_.r.mismatch;
        } else {
            const uint32_t own_modulo = k_.full.own[own];
            for (size_t l = 0; l < PANEL; ++l)
                distances_[l] = exact_distance(k_, near[l] + own_near + static_cast<uint32_t>(slack[l]), modulo[l] + own_modulo);
        }
        return distances_;
    }

    uint64_t distances_[PANEL];
    const Packed& k_;
    const size_t step_;
    ChunkSums coarse_, full_;
};

// Some rows at a time: use(the first of them, their places).
template <class Use> inline void each_batch(const Packed& k, const int64_t* rows, size_t n, size_t batch, Use use) {
    std::vector<size_t> places;
    for (size_t first = 0; first < n; first += places.size()) {
        places.clear();
        for (size_t i = first; i < std::min(first + batch, n); ++i) places.push_back(k.order.place_of[static_cast<size_t>(rows[i])]);
        use(first, places);
    }
}

// The moments of some rows of one class.
inline std::vector<Moments> moments_of(const Packed& k, const Kept& kept, const int64_t* rows, size_t n, size_t batch, const uint32_t* toward,
                                       const uint32_t* toward_full) {
    std::vector<Moments> moments(n);
    if (kept.has_moments()) {
        for (size_t i = 0; i < n; ++i) moments[i] = kept.moments(k, k.order.place_of[static_cast<size_t>(rows[i])]);
        return moments;
    }
    each_batch(k, rows, n, batch, [&](size_t first, const std::vector<size_t>& places) {
        const auto add = [&](size_t t, size_t place, uint64_t distance) { moments[first + t].add(distance, k.t.weight(k.order.row(place))); };
        if (!k.filtered) ExactDistances(k, places.size(), toward).measure(places, add);
        else if (k.t.units) LayeredDistances(k, places.size(), toward, toward_full).measure(places, add);
        else
            LayeredDistances(k, places.size(), toward, toward_full)
                .measure_panels(places, [&](size_t t, size_t first_place, size_t n_rows, const uint64_t* distances) {
                    moments[first + t].add_panel(distances, n_rows, places[t] - first_place);
                });
    });
    for (size_t i = 0; i < n && k.t.units; ++i) {
        const auto row = static_cast<size_t>(rows[i]);
        moments[i].add(k.distance_to_itself(row), std::max<int64_t>(k.t.weight(row) - k.r.one, 0));
    }
    return moments;
}

// The distances of some rows of one class to all rows, [row][row of the table].
inline std::vector<int64_t> distances_of(const Packed& k, const int64_t* rows, size_t n, size_t batch, const uint32_t* toward,
                                         const uint32_t* toward_full) {
    std::vector<int64_t> out(n * k.t.n_rows);
    each_batch(k, rows, n, batch, [&](size_t first, const std::vector<size_t>& places) {
        const auto write = [&](size_t t, size_t place, uint64_t distance) {
            out[(first + t) * k.t.n_rows + k.order.row(place)] = static_cast<int64_t>(distance);
        };
        if (k.filtered) LayeredDistances(k, places.size(), toward, toward_full).measure(places, write);
        else ExactDistances(k, places.size(), toward).measure(places, write);
    });
    for (size_t i = 0; i < n; ++i) {
        const auto row = static_cast<size_t>(rows[i]);
        out[i * k.t.n_rows + row] = static_cast<int64_t>(k.distance_to_itself(row));
    }
    return out;
}

}  // namespace nearhit
