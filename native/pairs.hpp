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
};

// From both layers: the filter tells a distance to within its slack, full codes modulo 2^32.
inline uint64_t exact_distance(const Packed& k, uint32_t near, uint32_t modulo) {
    const uint64_t about = uint64_t{near} << k.filter.shift;
    return about + static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(modulo - static_cast<uint32_t>(about))));
}

// While distances are kept they are added up for both of their rows, exactly: sums of distances h * 2^23 + l, and of h * h,
// h * l and l * l. A distance has 46 bits at most, and there is no room to keep those of 2^17 rows.
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
    Moments of(size_t place) const {
        unsigned __int128 squares = static_cast<unsigned __int128>(high[place]) << HALF_BITS;
        squares = ((squares + 2 * static_cast<unsigned __int128>(mixed[place])) << HALF_BITS) + low[place];
        return {sum[place], static_cast<uint64_t>(squares), squares >> 64};
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
// recipe looks within a radius.
class Kept {
public:
    // Room for all of them; then all stretches, perhaps on different threads; then they are used.
    size_t begin(Packed& k) {
        k.coarse.kept = Buffer<uint32_t>(k.order.n_places() * k.order.n_places());
        if (k.r.radius && !k.t.units) moments_ = KeptMoments(k.order.n_places());
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
    Moments moments(size_t place) const { return moments_.of(place); }

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
            for (size_t l = 0; l < PANEL; ++l) distances[l] = uint64_t{near[l]} * k.r.mismatch;
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

    // found(target, place, distance) for all rows of class d but the target itself.
    template <class Found> void measure(const std::vector<size_t>& places, Found found) {
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
                const size_t end = std::min(stop * PANEL, s.first_place + s.n_rows);
                for (size_t t = 0; t < places.size(); ++t)
                    for (size_t place = p * PANEL; place < end; ++place)
                        if (place != places[t]) found(t, place, distance(t, places[t], place, place - p * PANEL));
            }
        }
    }

private:
    uint64_t distance(size_t t, size_t own, size_t place, size_t at) {
        const uint32_t near = coarse_.of(t)[at] + k_.coarse.own[own] + static_cast<uint32_t>(k_.filter.slack[place]);
        return k_.filter.exact ? uint64_t{near} * k_.r.mismatch : exact_distance(k_, near, full_.of(t)[at] + k_.full.own[own]);
    }

    const Packed& k_;
    const size_t step_;
    ChunkSums coarse_, full_;
};

// The moments of some rows of one class.
inline std::vector<Moments> moments_of(const Packed& k, const Kept& kept, const int64_t* rows, size_t n, size_t batch, const uint32_t* toward,
                                       const uint32_t* toward_full) {
    std::vector<Moments> moments(n);
    if (kept.has_moments()) {
        for (size_t i = 0; i < n; ++i) moments[i] = kept.moments(k.order.place_of[static_cast<size_t>(rows[i])]);
        return moments;
    }
    std::vector<size_t> places;
    batch = std::min(batch, n);
    const auto measure = [&](auto&& distances) {
        for (size_t first = 0; first < n; first += places.size()) {
            places.clear();
            for (size_t i = first; i < std::min(first + batch, n); ++i) places.push_back(k.order.place_of[static_cast<size_t>(rows[i])]);
            distances.measure(places, [&](size_t t, size_t place, uint64_t distance) {
                moments[first + t].add(distance, k.t.weight(k.order.row(place)));
            });
        }
    };
    if (k.filtered) measure(LayeredDistances(k, batch, toward, toward_full));
    else measure(ExactDistances(k, batch, toward));
    for (size_t i = 0; i < n && k.t.units; ++i) {
        const auto row = static_cast<size_t>(rows[i]);
        moments[i].add(k.distance_to_itself(row), std::max<int64_t>(k.t.weight(row) - k.r.one, 0));
    }
    return moments;
}

}  // namespace nearhit
