// Distances of rows to all others: kept, each pair measured once, where all of them fit the bound on pair storage; and
// their means and squares, exactly, for members that look within a radius.
#pragma once
#include "chunk.hpp"
#include "search.hpp"

namespace nearhit::NEARHIT_ISA {

constexpr size_t PANELS_KEPT_AT_A_TIME = 2;

// The stretches of panels, of one class each, that threads keep one after the other.
inline std::vector<std::pair<size_t, size_t>> stretches_to_keep(const Order& order) {
    std::vector<std::pair<size_t, size_t>> stretches;
    for (const Segment& s : order.classes)
        for (size_t p = 0; p < s.n_panels; p += PANELS_KEPT_AT_A_TIME)
            stretches.emplace_back(s.first_panel + p, s.first_panel + std::min(p + PANELS_KEPT_AT_A_TIME, s.n_panels));
    return stretches;
}

// From the rows of some panels to those of the same and all later panels, and back. For complete tables.
inline void keep_distances(const Packed& k, Layer& layer, size_t first, size_t stop) {
    const size_t n = k.order.n_places(), step = panels_of_a_chunk(layer.parts);
    std::vector<size_t> places;
    for (size_t place = first * PANEL; place < stop * PANEL && k.order.is_row(place); ++place) places.push_back(place);
    ChunkSums sums(k, layer, nullptr, places.size(), step);
    sums.read_targets(places);
    for (size_t p = first; p < k.order.n_panels(); p += step) {
        const size_t end = std::min(p + step, k.order.n_panels());
        sums.measure(p, end);
        for (size_t t = 0; t < places.size(); ++t)
            for (size_t at = p * PANEL; at < end * PANEL; at += LANES) {
                const Vec own = load(layer.own.data() + at), slack = subtract(own, load(layer.starts.data() + at));
                const Vec sum = add(load(sums.of(t) + at - p * PANEL), all(layer.own[places[t]]));
                store(layer.kept.data() + places[t] * n + at, add(sum, slack));
            }
        for (size_t place = std::max(p, stop) * PANEL; place < end * PANEL; ++place) {
            for (size_t own : places) layer.kept[place * n + own] = layer.kept[own * n + place];
            // Padding: what leaves the far start of a sum as it is.
            for (size_t own = places.back() + 1; own < stop * PANEL; ++own) layer.kept[place * n + own] = layer.own[place];
        }
    }
}

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

// Exact distances from both layers: the filter tells them to within its slack, full codes modulo 2^32.
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
        if (k_.filter.exact) return uint64_t{near} * k_.r.mismatch;
        const uint64_t about = uint64_t{near} << k_.filter.shift;
        const uint32_t rest = full_.of(t)[at] + k_.full.own[own] - static_cast<uint32_t>(about);
        return about + static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(rest)));
    }

    const Packed& k_;
    const size_t step_;
    ChunkSums coarse_, full_;
};

// The moments of some rows of one class.
inline std::vector<Moments> moments_of(const Packed& k, const int64_t* rows, size_t n, size_t batch, const uint32_t* toward,
                                       const uint32_t* toward_full) {
    std::vector<Moments> moments(n);
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
