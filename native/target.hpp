// The target storey: from the distances of one row to its neighbours and their weights (SPEC section 3).
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lanes.hpp"
#include "table.hpp"

namespace nearhit::NEARHIT_ISA {

// The k nearest so far of one target and group, from distances that may be off by the slack of both rows.
//
// A row stays a candidate while its smallest possible distance is within the k-th smallest of the largest possible
// ones, so no true neighbour is lost; ties at the k-th place all stay, and the list grows as far as it must.
template <class Distance>
class Nearest {
public:
    struct Candidate { Distance lowest; uint32_t place; };
    static constexpr Distance NEVER = std::numeric_limits<Distance>::max();   // the limit while there are less than k

    void start(size_t k, Distance own_slack) {
        k_ = k;
        twice_own_slack_ = 2 * own_slack;
        limit_ = NEVER;
        tidy_at_ = 1024;
        highest_.clear();
        candidates_.clear();
        if (candidates_.capacity() == 0 && k < 1024) {
            highest_.reserve(k);
            candidates_.reserve(4 * k);
        }
    }
    Distance limit() const { return limit_; }

    void offer(Distance lowest, Distance slack, uint32_t place) {
        if (lowest > limit_) return;
        candidates_.push_back({lowest, place});
        const Distance highest = lowest + 2 * slack;
        if (highest_.size() < k_) {
            highest_.push_back(highest);
            std::push_heap(highest_.begin(), highest_.end());
        } else if (highest < highest_.front()) {
            replace_largest(highest);
        } else {
            return;
        }
        if (highest_.size() == k_) limit_ = highest_.front() + twice_own_slack_;
        if (candidates_.size() >= tidy_at_) tidy();
    }

    std::vector<Candidate>& finish() {
        tidy();
        return candidates_;
    }

private:
    void replace_largest(Distance value) {       // sift down: half the work of pop and push
        size_t at = 0;
        for (size_t child = 1; child < k_; child = 2 * at + 1) {
            if (child + 1 < k_ && highest_[child + 1] > highest_[child]) ++child;
            if (highest_[child] <= value) break;
            highest_[at] = highest_[child];
            at = child;
        }
        highest_[at] = value;
    }
    void tidy() {
        std::erase_if(candidates_, [&](const Candidate& c) { return c.lowest > limit_; });
        tidy_at_ = std::max<size_t>(1024, 2 * candidates_.size());
    }

    size_t k_ = 0, tidy_at_ = 0;
    Distance twice_own_slack_ = 0, limit_ = 0;
    std::vector<Distance> highest_;              // a heap of the k smallest upper bounds
    std::vector<Candidate> candidates_;
};

struct Candidate { uint64_t distance; uint32_t row; int64_t copies; };
struct Neighbour { uint32_t row; int64_t copies; double weight; };   // the weight of one copy

// What the places from `before` to `after` weigh together, before normalisation.
inline double weight_of_places(const RecipeView& r, int64_t before, int64_t after, uint64_t distance, bool nearest_at_0) {
    const auto places = static_cast<double>(after - before);
    if (r.weighing == Weighing::equal) return places;
    if (r.weighing == Weighing::distance) {
        if (nearest_at_0) return distance == 0 ? places : 0.0;
        const auto d = static_cast<double>(distance);
        const double inverse = r.euclidean ? 1 / std::sqrt(d) : 1 / d;
        return places * (r.power == 1 ? inverse : inverse * inverse);
    }
    const auto ranks_before = [&](int64_t units) {
        const auto whole = static_cast<size_t>(units / r.one);
        if (whole >= r.n_rank_weights - 1) return r.rank_weights[r.n_rank_weights - 1];
        const double part = static_cast<double>(units % r.one) / static_cast<double>(r.one);
        return r.rank_weights[whole] + part * (r.rank_weights[whole + 1] - r.rank_weights[whole]);
    };
    return ranks_before(after) - ranks_before(before);
}

// Rows at equal distance stand in one rank after the other and share what their ranks weigh together. Returns how much
// weight the neighbourhood holds, in units of the row weights.
inline int64_t weigh(const RecipeView& r, std::vector<Candidate>& found, std::vector<Neighbour>& out) {
    out.clear();
    int64_t there = 0;
    for (const Candidate& c : found) there += c.copies;
    const int64_t held = std::min(there, r.places);
    std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
        return a.distance != b.distance ? a.distance < b.distance : a.row < b.row;
    });
    const bool nearest_at_0 = !found.empty() && found[0].distance == 0;
    double total = 0;
    int64_t before = 0;
    for (size_t start = 0, stop; start < found.size() && before < held; start = stop) {
        int64_t copies = 0;
        for (stop = start; stop < found.size() && (stop == start || (!r.ties_first && found[stop].distance == found[start].distance)); ++stop)
            copies += found[stop].copies;
        const int64_t after = std::min(before + copies, held);
        const double share = weight_of_places(r, before, after, found[start].distance, nearest_at_0);
        for (size_t c = start; c < stop; ++c) out.push_back({found[c].row, found[c].copies, share});
        // Until the total is known, each row carries the share of its group; the group's copies are found again below.
        total += share;
        before += copies;
    }
    for (size_t start = 0, stop; start < out.size(); start = stop) {
        int64_t copies = 0;
        for (stop = start; stop < out.size() && (stop == start || (!r.ties_first && found[stop].distance == found[start].distance)); ++stop)
            copies += out[stop].copies;
        for (size_t c = start; c < stop; ++c) {
            double& w = out[c].weight;
            if (!r.counts_places && total > 0) w /= total;
            w /= static_cast<double>(copies);
            if (!r.whole_weights) {
                w *= static_cast<double>(out[c].copies);
                out[c].copies = 1;
            }
        }
    }
    std::erase_if(out, [](const Neighbour& n) { return !(n.weight > 0); });
    return held;
}

}  // namespace nearhit
