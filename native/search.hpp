// The neighbours of a batch of target rows of one class: by the filter, or on exact distances.
#pragma once
#include "packed.hpp"
#include "target.hpp"
#include "tile.hpp"

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
        : k_(packed), toward_(reinterpret_cast<const int32_t*>(toward)), rows_needed_(k), most_(most),
          use_boxes_(packed.boxes.exist()), held_(packed.n_groups()) {
        panels_at_a_time_ = use_boxes_ ? BOXES : std::min(panels_of_a_chunk(packed.parts), packed.order.n_panels());
        near_.resize(batch * packed.n_groups());
        bounds_.resize(batch + MOST_TARGETS_OF_A_TILE);
        sums_.resize(bounds_.size() * panels_at_a_time_ * PANEL);
        targets_.resize(packed.parts.size());
        wanted_.resize(bounds_.size());
    }

    // False if there were too many candidates: then fewer targets have to be taken at a time. `only_distances` is for
    // benchmarks: nothing is within any bound.
    bool find(const std::vector<size_t>& places, size_t c, bool only_distances) {
        places_ = &places;
        only_distances_ = only_distances;
        held_.start();
        const size_t n = places.size();
        for (size_t t = 0; t < n; ++t)
            for (size_t g = 0; g < k_.n_groups(); ++g) near(t, g).start(rows_needed_, k_.filter.slack[places[t]]);
        for (size_t p = 0; p < targets_.size(); ++p)
            if (k_.parts[p].form != Form::holes) gather_targets(k_.parts[p], places.data(), n, targets_[p]);
        if (use_boxes_) read_rows();
        std::fill(bounds_.begin(), bounds_.end(), std::numeric_limits<int32_t>::min());
        for (size_t d = 0; d < k_.order.classes.size(); ++d) {
            group_ = k_.group_of(c, d);
            for (size_t t = 0; t < n && !only_distances; ++t) tell_bound(t);
            if (k_.t.has_unknown()) gather_holes(d);
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
        const bool adjusted = k_.t.has_unknown(), nothing_known = !only_distances_ && worth_a_sample((stop - first) * PANEL);
        if (adjusted) start_from_own_holes(first, stop);
        for (size_t p = 0; p < k_.parts.size(); ++p) {
            const Part& part = k_.parts[p];
            for (size_t g = 0; g < part.n_groups; g += groups_at_a_time(part)) {
                const bool is_first = p == 0 && g == 0 && !adjusted;
                const bool is_last = p + 1 == k_.parts.size() && g + groups_at_a_time(part) >= part.n_groups;
                add_groups(p, g, first, stop, is_first, is_last && !nothing_known);
            }
        }
        if (nothing_known) take_sample(first, stop);
        return held_.within(most_, group_, places_->size(), [&](size_t t) { return near(t, group_).n_candidates(); });
    }

    void add_groups(size_t p, size_t g, size_t first, size_t stop, bool is_first, bool is_last) {
        switch (k_.parts[p].form) {
#define NEARHIT_FORM(FORM) \
    case Form::FORM: return add_groups_as<Form::FORM>(k_.parts[p], targets_[p], g, first, stop, is_first, is_last);
            NEARHIT_FORM(numeric16) NEARHIT_FORM(planes1) NEARHIT_FORM(planes2) NEARHIT_FORM(planes3)
            NEARHIT_FORM(planes4) NEARHIT_FORM(bytes8) NEARHIT_FORM(words16) NEARHIT_FORM(holes)
#undef NEARHIT_FORM
        }
    }

    template <Form FORM>
    void add_groups_as(const Part& part, const std::vector<uint32_t>& targets, size_t g, size_t first, size_t stop,
                       bool is_first, bool is_last) {
        constexpr size_t W = words_of(FORM), T = tile_of(FORM).targets;
        constexpr size_t ROWS = static_cast<size_t>(tile_of(FORM).vectors) * LANES;
        const size_t n = std::min(part.n_groups - g, groups_at_a_time(part)), stride = panels_at_a_time_ * PANEL;
        const auto* starts = reinterpret_cast<const uint32_t*>(k_.filter.start.data());
        for (size_t t = 0; t < places_->size(); t += T)
            for (size_t p = first; p < stop; ++p) {
                if (use_boxes_ && !any_wants<T>(t, p)) continue;
                const size_t at = t * stride + (p - first) * PANEL;
                const Pass pass{is_first ? starts + p * PANEL : nullptr, sums_.data() + at, stride,
                                is_last ? bounds_.data() + t : nullptr, k_.filter.mismatch};
                tile<FORM>(targets.data() + (t * part.n_groups + g * T) * W, part.panel(p) + g * W * PANEL, n, pass,
                           [&](size_t start, uint32_t within) { take(t, within, p * PANEL + start, at + start, ROWS); });
            }
    }

    // ------------------------------------------------------------------------------------------- what was found

    // Offer what is within the bounds of some targets of a tile. Padding and the targets themselves are found here too.
    [[gnu::noinline]] void take(size_t first_target, uint32_t targets, size_t first_place, size_t at, size_t n_rows) {
        for (; targets; targets &= targets - 1) {
            const size_t t = first_target + static_cast<size_t>(__builtin_ctz(targets));
            if (t >= places_->size()) return;
            const size_t stride = panels_at_a_time_ * PANEL;
            const uint32_t* sums = sums_.data() + at + (t - first_target) * stride;
            Nearest<int32_t>& list = near(t, group_);
            const int32_t own = k_.filter.sum[(*places_)[t]];
            for (size_t r = 0; r < n_rows; r += LANES)
                for (uint32_t lanes = lanes_up_to(load(sums + r), bounds_[t]); lanes; lanes &= lanes - 1) {
                    const size_t l = r + static_cast<size_t>(__builtin_ctz(lanes)), place = first_place + l;
                    if (place >= end_ || place == (*places_)[t]) continue;
                    list.offer(static_cast<int32_t>(sums[l]) + own, k_.filter.slack[place], static_cast<uint32_t>(place));
                }
            tell_bound(t);
        }
    }

    // Sums in tiles leave the sum of the target out, which is the same for all rows.
    void tell_bound(size_t t) {
        const int64_t bound = int64_t{near(t, group_).limit()} - k_.filter.sum[(*places_)[t]];
        bounds_[t] = static_cast<int32_t>(std::min<int64_t>(bound, std::numeric_limits<int32_t>::max()));
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
        const size_t stride = panels_at_a_time_ * PANEL;
        for (size_t t = 0; t < places_->size(); ++t) {
            const int64_t bound = bound_of_sample(sums_.data() + t * stride, first * PANEL, (stop - first) * PANEL, (*places_)[t]);
            near(t, group_).cap(static_cast<int32_t>(bound + k_.filter.sum[(*places_)[t]]));
            tell_bound(t);
            for (size_t p = first; p < stop; ++p) take(t, 1, p * PANEL, t * stride + (p - first) * PANEL, PANEL);
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

    // ------------------------------------------------------------------------------------------- unknown values

    // What the unknown values of the targets are expected to differ by, for all rows of a chunk.
    void start_from_own_holes(size_t first, size_t stop) {
        const size_t slots = k_.expected.size(), stride = panels_at_a_time_ * PANEL;
        for (size_t t = 0; t < places_->size(); ++t)
            for (size_t p = first; p < stop; ++p) {
                auto* sums = reinterpret_cast<int32_t*>(sums_.data()) + t * stride + (p - first) * PANEL;
                const int32_t* toward = toward_ + p * slots * PANEL;
                std::copy_n(k_.filter.start.data() + p * PANEL, PANEL, sums);
                k_.holes.each(k_.order.row((*places_)[t]), [&](size_t s) {
                    for (size_t l = 0; l < PANEL; ++l) sums[l] += toward[s * PANEL + l];
                });
            }
    }

    // What unknown values of rows of class d are expected to differ by from the targets: the words of the part `holes`.
    void gather_holes(size_t d) {
        constexpr size_t T = tile_of(Form::holes).targets;
        std::vector<uint32_t>& words = targets_.back();
        const size_t slots = k_.expected.size();
        words.resize((places_->size() + T - 1) / T * slots * T);
        for (size_t t = 0; t < places_->size(); ++t)
            for (size_t s = 0; s < slots; ++s)
                words[(t / T * slots + s) * T + t % T] = k_.from_known(s, k_.order.row((*places_)[t]), d);
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

    template <size_t T> bool any_wants(size_t t, size_t p) {
        uint32_t any = 0;
        for (size_t i = 0; i < T; ++i) any |= wanted_[t + i];
        const bool wants = any >> (p - first_wanted_) & 1;
        ++asked_;
        passed_over_ += !wants;
        return wants;
    }

    const Packed& k_;
    const int32_t* toward_;                                   // of the class of the targets: Packed::toward
    size_t rows_needed_, most_, panels_at_a_time_ = 0;
    bool use_boxes_, only_distances_ = false;
    Held held_;
    const std::vector<size_t>* places_ = nullptr;             // of the targets at hand
    size_t group_ = 0, end_ = 0;                              // of the rows at hand
    std::vector<Nearest<int32_t>> near_;                      // [target][group]
    std::vector<int32_t> bounds_;                             // per target, for the group at hand
    std::vector<uint32_t> bins_;
    std::vector<uint32_t> sums_;                              // [target][row of the chunk]
    std::vector<std::vector<uint32_t>> targets_;              // words of the targets, per part
    std::vector<int32_t> target_rows_;                        // their values, for boxes
    std::vector<uint32_t> wanted_;                            // per target: panels of the chunk
    size_t first_wanted_ = 0, asked_ = 0, passed_over_ = 0;
};

// Distances on the full codes, row by row and panel by panel.
class ExactSearch {
public:
    ExactSearch(const Packed& packed, size_t batch, size_t k, size_t most, const uint32_t* toward)
        : k_(packed), toward_(toward), rows_needed_(k), most_(most), held_(packed.n_groups()),
          near_(batch * packed.n_groups()), targets_(batch), distances_(PANEL) {}

    bool find(const std::vector<size_t>& places, size_t c, bool only_distances) {
        held_.start();
        for (size_t t = 0; t < places.size(); ++t) {
            targets_[t].read(k_.t, k_.code_panels, k_.expected, k_.order.classes.size(), places[t]);
            for (size_t g = 0; g < k_.n_groups(); ++g) near(t, g).start(rows_needed_, 0);
        }
        for (size_t d = 0; d < k_.order.classes.size(); ++d) {
            const Segment& segment = k_.order.classes[d];
            const size_t g = k_.group_of(c, d);
            for (size_t first = segment.first_place; first < segment.first_place + segment.n_rows; first += PANEL) {
                for (size_t t = 0; t < places.size(); ++t) {
                    measure(targets_[t], d, first / PANEL);
                    const size_t stop = std::min(first + PANEL, segment.first_place + segment.n_rows);
                    if (!only_distances) take(near(t, g), first, stop, places[t]);
                }
                if (!held_.within(most_, g, places.size(), [&](size_t t) { return near(t, g).n_candidates(); })) return false;
            }
        }
        return true;
    }

    Nearest<int64_t>& near(size_t t, size_t g) { return near_[t * k_.n_groups() + g]; }

private:
    void take(Nearest<int64_t>& list, size_t first, size_t stop, size_t own_place) {
        for (size_t place = first; place < stop; ++place) {
            const auto distance = static_cast<int64_t>(distances_[place - first]);
            if (distance <= list.limit() && place != own_place) list.offer(distance, 0, static_cast<uint32_t>(place));
        }
    }

    void measure(const ExactTarget& target, size_t d, size_t panel) {
        const size_t slots = k_.expected.size();
        const auto run = [&]<DiffKind KIND, bool EUCLIDEAN>() {
            exact_panel<KIND, EUCLIDEAN>(k_.t, k_.r, k_.expected, target, target.if_unknown.data() + d * slots,
                                         k_.code_panels.panel(panel), toward_ + panel * slots * PANEL, distances_.data());
        };
        const auto run_metric = [&]<DiffKind KIND>() {
            k_.r.euclidean ? run.template operator()<KIND, true>() : run.template operator()<KIND, false>();
        };
        if (k_.r.diff == DiffKind::linear) run_metric.template operator()<DiffKind::linear>();
        if (k_.r.diff == DiffKind::squared) run_metric.template operator()<DiffKind::squared>();
        if (k_.r.diff == DiffKind::ramp) run_metric.template operator()<DiffKind::ramp>();
    }

    const Packed& k_;
    const uint32_t* toward_;
    size_t rows_needed_, most_;
    Held held_;
    std::vector<Nearest<int64_t>> near_;
    std::vector<ExactTarget> targets_;
    std::vector<uint64_t> distances_;                         // of one target to one panel
};

}  // namespace nearhit
