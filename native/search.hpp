// The neighbours of a batch of target rows of one class: by the filter, or on exact distances.
#pragma once
#include "chunk.hpp"
#include "target.hpp"

namespace nearhit::NEARHIT_ISA {

// How many candidates a batch holds, asked after each stretch of rows of one group. One target may hold any number.
class Held {
public:
    explicit Held(size_t n_groups) : of_group_(n_groups) {}
    void start() {
        total_ = 0;
        std::fill(of_group_.begin(), of_group_.end(), 0);
    }
    template <class Count> bool within(size_t most, size_t g, size_t n_targets, Count count) {
        total_ -= of_group_[g];
        of_group_[g] = 0;
        for (size_t t = 0; t < n_targets; ++t) of_group_[g] += count(t);
        total_ += of_group_[g];
        return n_targets == 1 || total_ <= most;
    }

private:
    size_t total_ = 0;
    std::vector<size_t> of_group_;
};

// Distances in filter units, from tiles; what may be among the k nearest is kept for the full codes to decide.
class FilterSearch {
public:
    // `most` candidates may wait at a time, or as many as one target has.
    FilterSearch(const Packed& packed, size_t batch, size_t k, size_t most, const uint32_t* toward)
        : k_(packed), rows_needed_(k), most_(most), panels_at_a_time_(packed.panels_at_a_time()),
          use_boxes_(packed.boxes.exist()), sums_(packed, packed.coarse, toward, batch, panels_at_a_time_), held_(packed.n_groups()),
          near_(batch * packed.n_groups()), bounds_(batch + MOST_TARGETS_OF_A_TILE), wanted_(bounds_.size()) {}

    // False if there were too many candidates: then fewer targets have to be taken at a time. With `radii`, one for each
    // target, all within them are candidates. `only_distances` is for benchmarks: nothing is within any bound.
    bool find(const std::vector<size_t>& places, size_t c, const int64_t* radii, bool only_distances) {
        places_ = &places;
        only_distances_ = only_distances;
        held_.start();
        const size_t n = places.size();
        for (size_t t = 0; t < n; ++t)
            for (size_t g = 0; g < k_.n_groups(); ++g) {
                if (radii) near(t, g).start_within(limit_of(radii[t], places[t]));
                else near(t, g).start(rows_needed_, k_.filter.slack[places[t]]);
            }
        sums_.read_targets(places);
        if (use_boxes_) read_rows();
        std::fill(bounds_.begin(), bounds_.end(), std::numeric_limits<int32_t>::min());
        std::fill(wanted_.begin(), wanted_.end(), 0);
        for (size_t d = 0; d < k_.order.classes.size(); ++d) {
            group_ = k_.group_of(c, d);
            for (size_t t = 0; t < n && !only_distances; ++t) tell_bound(t);
            sums_.enter_class(d);
            if (!pass_over(k_.order.classes[d], c == d)) return false;
        }
        return true;
    }

    Nearest<int32_t>& near(size_t t, size_t g) { return near_[t * k_.n_groups() + g]; }

private:
    // --------------------------------------------------------------------------------------- the panels of a class

    bool pass_over(const Segment& segment, bool own_class) {
        const size_t step = panels_at_a_time_, first = segment.first_panel, stop = first + segment.n_panels;
        if (!use_boxes_) {
            for (size_t p = first; p < stop; p += step)
                if (!pass_over_chunk(p, std::min(p + step, stop), segment)) return false;
            return true;
        }
        // The nearest panels first, so that bounds are low when the others are asked; then round the class.
        const size_t begin = first / step, end = (stop + step - 1) / step;
        const size_t near = (own_class ? (*places_)[0] / PANEL : nearest_panel(first, stop)) / step;
        for (size_t i = 0; i < end - begin; ++i) {
            const size_t chunk = begin + (near - begin + i) % (end - begin);
            if (!pass_over_chunk(std::max(chunk * step, first), std::min((chunk + 1) * step, stop), segment)) return false;
        }
        // Where few panels are too far away, asking costs more than it saves.
        if (asked_ > 64 && passed_over_ * 4 < asked_) use_boxes_ = false;
        return true;
    }

    bool pass_over_chunk(size_t first, size_t stop, const Segment& segment) {
        if (use_boxes_ && !ask_boxes(first, stop)) return true;
        end_ = segment.first_place + segment.n_rows;
        const bool nothing_known = !only_distances_ && worth_a_sample((stop - first) * PANEL);
        sums_.measure(
            first, stop, nothing_known ? nullptr : bounds_.data(),
            [&](size_t t, size_t n, size_t p) { return !use_boxes_ || any_wants(t, n, p); },
            [&](size_t t, uint32_t within, size_t place, const uint32_t* sums, size_t n) { take(t, within, place, sums, n); });
        if (nothing_known) take_sample(first, stop);
        return held_.within(most_, group_, places_->size(), [&](size_t t) { return near(t, group_).n_candidates(); });
    }

    // ------------------------------------------------------------------------------------------- what was found

    // Offer what is within the bounds of some targets of a tile. Padding and the targets themselves are found here too.
    [[gnu::noinline]] void take(size_t first_target, uint32_t targets, size_t first_place, const uint32_t* first_sums, size_t n_rows) {
        for (; targets; targets &= targets - 1) {
            const auto i = static_cast<size_t>(__builtin_ctz(targets));
            const size_t t = first_target + i;
            if (t >= places_->size()) return;
            const uint32_t* sums = first_sums + i * panels_at_a_time_ * PANEL;
            Nearest<int32_t>& list = near(t, group_);
            const int32_t own = own_sum(t);
            for (size_t r = 0; r < n_rows; r += LANES)
                for (uint32_t lanes = lanes_up_to(load(sums + r), bounds_[t]); lanes; lanes &= lanes - 1) {
                    const size_t l = r + static_cast<size_t>(__builtin_ctz(lanes)), place = first_place + l;
                    if (place >= end_ || place == (*places_)[t]) continue;
                    list.offer(static_cast<int32_t>(sums[l]) + own, k_.filter.slack[place], static_cast<uint32_t>(place));
                }
            tell_bound(t);
        }
    }

    // Sums of chunks leave it out, because it is the same for all rows.
    int32_t own_sum(size_t t) const { return static_cast<int32_t>(k_.coarse.own[(*places_)[t]]); }

    void tell_bound(size_t t) {
        const int64_t bound = int64_t{near(t, group_).limit()} - own_sum(t);
        bounds_[t] = static_cast<int32_t>(std::min<int64_t>(bound, std::numeric_limits<int32_t>::max()));
    }

    // A distance in filter units, less the slack of the other row, that a row within a radius cannot exceed.
    int32_t limit_of(int64_t radius, size_t place) const {
        const int64_t limit = k_.filter.exact ? (radius < 0 ? -1 : radius / k_.r.mismatch)
                                              : (radius >> k_.filter.shift) + k_.filter.slack[place];
        return static_cast<int32_t>(std::min<int64_t>(limit, FAR - 1));
    }

    // -------------------------------------------------------------------------------------------- the first bounds

    // Before anything is known of a group every row would be let in, one after the other. So the sums of its first chunk
    // are kept, dealt into half as many bins again as there are places, and the k-th smallest of the bins' smallest is a
    // bound: k = 10 and 1,024 rows let 16 rows in, not 56.
    size_t n_bins() const { return (rows_needed_ * 3 / 2 + LANES) / LANES * LANES; }
    bool worth_a_sample(size_t n_rows) const {
        return near_[group_].limit() == Nearest<int32_t>::NEVER && rows_needed_ <= 256 && n_rows >= 2 * n_bins();
    }

    void take_sample(size_t first, size_t stop) {
        for (size_t t = 0; t < places_->size(); ++t) {
            const int64_t bound = bound_of_sample(sums_.of(t), first * PANEL, (stop - first) * PANEL, (*places_)[t]);
            near(t, group_).cap(static_cast<int32_t>(bound + own_sum(t)));
            tell_bound(t);
            for (size_t p = first; p < stop; ++p) take(t, 1, p * PANEL, sums_.of(t, p - first), PANEL);
        }
    }

    // The target itself may be among the rows, and must not take a place.
    int64_t bound_of_sample(const uint32_t* sums, size_t first_place, size_t n_rows, size_t own_place) {
        const size_t n = n_bins();
        const bool has_itself = own_place - first_place < n_rows;
        bins_.resize(n);
        const auto* slack = reinterpret_cast<const uint32_t*>(k_.filter.slack.data()) + first_place;
        for (size_t b = 0; b < n; b += LANES) {
            Vec least = all(FAR);
            for (size_t r = b; r + LANES <= n_rows; r += n) {
                const Vec s = load(slack + r);
                least = smaller(least, add(load(sums + r), add(s, s)));
            }
            store(bins_.data() + b, least);
        }
        auto* bins = reinterpret_cast<int32_t*>(bins_.data());
        std::nth_element(bins, bins + rows_needed_ - 1 + has_itself, bins + n);
        return bins[rows_needed_ - 1 + has_itself];
    }

    // ------------------------------------------------------------------------------------------------------ boxes

    void read_rows() {
        const size_t n = k_.t.n_numeric;
        target_rows_.resize(places_->size() * n);
        for (size_t t = 0; t < places_->size(); ++t)
            for (size_t a = 0; a < n; ++a)
                target_rows_[t * n + a] = static_cast<int32_t>(k_.filter.quantum(k_.t.code(k_.order.row((*places_)[t]), a)));
    }

    size_t nearest_panel(size_t first, size_t stop) const {
        size_t nearest = first;
        int32_t least = std::numeric_limits<int32_t>::max(), found[BOXES];
        for (size_t p = first / BOXES * BOXES; p < stop; p += BOXES) {
            k_.boxes.ask(p, target_rows_.data(), found);
            for (size_t i = std::max(p, first); i < std::min(p + BOXES, stop); ++i)
                if (found[i - p] < least) {
                    least = found[i - p];
                    nearest = i;
                }
        }
        return nearest;
    }

    // Which panels of a chunk may hold neighbours of which target; false if none of any.
    bool ask_boxes(size_t first, size_t stop) {
        first_wanted_ = first / BOXES * BOXES;
        const uint32_t here = ((1u << (stop - first_wanted_)) - 1) & ~((1u << (first - first_wanted_)) - 1);
        uint32_t any = 0;
        int32_t least[BOXES];
        for (size_t t = 0; t < places_->size(); ++t) {
            k_.boxes.ask(first_wanted_, target_rows_.data() + t * k_.t.n_numeric, least);
            const int32_t limit = near(t, group_).limit();
            wanted_[t] = 0;
            for (size_t i = 0; i < BOXES; ++i) wanted_[t] |= static_cast<uint32_t>(least[i] <= limit) << i;
            wanted_[t] &= here;
            any |= wanted_[t];
        }
        return any != 0;
    }

    bool any_wants(size_t t, size_t n, size_t p) {
        uint32_t any = 0;
        for (size_t i = 0; i < n; ++i) any |= wanted_[t + i];
        const bool wants = any >> (p - first_wanted_) & 1;
        ++asked_;
        passed_over_ += !wants;
        return wants;
    }

    const Packed& k_;
    const size_t rows_needed_, most_, panels_at_a_time_;
    bool use_boxes_, only_distances_ = false;
    ChunkSums sums_;
    Held held_;
    const std::vector<size_t>* places_ = nullptr;             // of the targets at hand
    size_t group_ = 0, end_ = 0;                              // of the rows at hand
    std::vector<Nearest<int32_t>> near_;                      // [target][group]
    std::vector<int32_t> bounds_;                             // per target, for the group at hand
    std::vector<uint32_t> bins_;
    std::vector<int32_t> target_rows_;                        // the values of the targets, for boxes
    std::vector<uint32_t> wanted_;                            // per target: panels of the chunk
    size_t first_wanted_ = 0, asked_ = 0, passed_over_ = 0;
};

// Distances on the full codes, row by row and panel by panel.
class ExactDistances {
public:
    // `toward` is Packed::toward of the class of the targets, where anything is unknown.
    ExactDistances(const Packed& packed, size_t batch, const uint32_t* toward)
        : k_(packed), toward_(toward), targets_(batch), distances_(PANEL) {}

    void read_targets(const std::vector<size_t>& places) {
        for (size_t t = 0; t < places.size(); ++t)
            targets_[t].read(k_.t, k_.code_panels, k_.expected, k_.order.classes.size(), places[t]);
    }

    // To the 64 rows of a panel of class d.
    const std::vector<uint64_t>& measure(size_t t, size_t d, size_t panel) {
        const size_t slots = k_.expected.size();
        const auto run = [&]<DiffKind KIND, bool EUCLIDEAN>() {
            exact_panel<KIND, EUCLIDEAN>(k_.t, k_.r, k_.expected, targets_[t], targets_[t].if_unknown.data() + d * slots,
                                         k_.code_panels.panel(panel), toward_ + panel * slots * PANEL, distances_.data());
        };
        const auto run_metric = [&]<DiffKind KIND>() {
            k_.r.euclidean ? run.template operator()<KIND, true>() : run.template operator()<KIND, false>();
        };
        if (k_.r.diff == DiffKind::linear) run_metric.template operator()<DiffKind::linear>();
        if (k_.r.diff == DiffKind::squared) run_metric.template operator()<DiffKind::squared>();
        if (k_.r.diff == DiffKind::ramp) run_metric.template operator()<DiffKind::ramp>();
        return distances_;
    }

    // found(target, place, distance) for all rows but the targets themselves; `after(class)` after each panel of a class
    // says whether to go on.
    template <class Found, class After> bool measure(const std::vector<size_t>& places, Found found, After after) {
        read_targets(places);
        for (size_t d = 0; d < k_.order.classes.size(); ++d) {
            const Segment& segment = k_.order.classes[d];
            const size_t end = segment.first_place + segment.n_rows;
            for (size_t first = segment.first_place; first < end; first += PANEL) {
                for (size_t t = 0; t < places.size(); ++t) {
                    const std::vector<uint64_t>& distances = measure(t, d, first / PANEL);
                    for (size_t place = first; place < std::min(first + PANEL, end); ++place)
                        if (place != places[t]) found(t, d, place, distances[place - first]);
                }
                if (!after(d)) return false;
            }
        }
        return true;
    }
    template <class Found> void measure(const std::vector<size_t>& places, Found found) {
        measure(places, [&](size_t t, size_t, size_t place, uint64_t distance) { found(t, place, distance); }, [](size_t) { return true; });
    }

private:
    const Packed& k_;
    const uint32_t* toward_;
    std::vector<ExactTarget> targets_;
    std::vector<uint64_t> distances_;                         // of one target to one panel
};

// The same as FilterSearch on exact distances.
class ExactSearch {
public:
    ExactSearch(const Packed& packed, size_t batch, size_t k, size_t most, const uint32_t* toward)
        : k_(packed), rows_needed_(k), most_(most), distances_(packed, batch, toward), held_(packed.n_groups()),
          near_(batch * packed.n_groups()) {}

    bool find(const std::vector<size_t>& places, size_t c, const int64_t* radii, bool only_distances) {
        held_.start();
        for (size_t t = 0; t < places.size(); ++t)
            for (size_t g = 0; g < k_.n_groups(); ++g) radii ? near(t, g).start_within(radii[t]) : near(t, g).start(rows_needed_, 0);
        return distances_.measure(
            places,
            [&](size_t t, size_t d, size_t place, uint64_t distance) {
                Nearest<int64_t>& list = near(t, k_.group_of(c, d));
                if (!only_distances) list.offer(static_cast<int64_t>(distance), 0, static_cast<uint32_t>(place));
            },
            [&](size_t d) {
                const size_t g = k_.group_of(c, d);
                return held_.within(most_, g, places.size(), [&](size_t t) { return near(t, g).n_candidates(); });
            });
    }

    Nearest<int64_t>& near(size_t t, size_t g) { return near_[t * k_.n_groups() + g]; }

private:
    const Packed& k_;
    size_t rows_needed_, most_;
    ExactDistances distances_;
    Held held_;
    std::vector<Nearest<int64_t>> near_;
};

}  // namespace nearhit
