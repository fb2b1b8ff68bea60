// The sums of a batch of targets over a chunk of panels of one class: all parts of a layer, a stretch of groups after the
// other, tile by tile; or as they were kept. What becomes of them is the caller's business.
#pragma once
#include "packed.hpp"

namespace nearhit::NEARHIT_ISA {

class ChunkSums {
public:
    // `toward` is Packed::toward of this layer for the class of the targets, where anything is unknown.
    ChunkSums(const Packed& packed, const Layer& layer, const uint32_t* toward, size_t batch, size_t panels)
        : k_(packed), layer_(layer), toward_(toward), stride_(panels * PANEL), targets_(layer.parts.size()),
          sums_((batch + MOST_TARGETS_OF_A_TILE) * stride_) {}

    void read_targets(const std::vector<size_t>& places) {
        places_ = &places;
        for (size_t p = 0; p < layer_.parts.size() && !layer_.is_kept; ++p)
            if (layer_.parts[p].form != Form::holes) gather_targets(layer_.parts[p], places.data(), places.size(), targets_[p]);
    }
    // The rows to come are of class d.
    void enter_class(size_t d) {
        if (k_.t.has_unknown() && !layer_.is_kept) gather_holes(d);
    }

    uint32_t* of(size_t target, size_t panel_of_chunk = 0) { return sums_.data() + target * stride_ + panel_of_chunk * PANEL; }

    // Without bounds all sums are kept; with them only where one is within the bound of its target, and `found(first target,
    // targets, first place, first sum, rows)` is told. `wanted(first target, targets, panel)`: whether to look there at all.
    template <class Wanted, class Found>
    void measure(size_t first, size_t stop, const int32_t* bounds, Wanted wanted, Found found) {
        if (layer_.is_kept) return read_kept(first, stop, bounds, wanted, found);
        const bool adjusted = k_.t.has_unknown();
        if (adjusted) start_from_own_holes(first, stop);
        for (size_t p = 0; p < layer_.parts.size(); ++p) {
            const Part& part = layer_.parts[p];
            for (size_t g = 0; g < part.n_groups; g += groups_at_a_time(part)) {
                const bool is_first = p == 0 && g == 0 && !adjusted;
                const bool is_last = p + 1 == layer_.parts.size() && g + groups_at_a_time(part) >= part.n_groups;
                const auto add = [&]<Form FORM>() {
                    add_groups<FORM>(p, g, first, stop, is_first ? layer_.starts.data() : nullptr, is_last ? bounds : nullptr, wanted, found);
                };
                switch (part.form) {
#define NEARHIT_FORM(FORM) \
    case Form::FORM: add.template operator()<Form::FORM>(); break;
                    NEARHIT_FORM(numeric16) NEARHIT_FORM(planes1) NEARHIT_FORM(planes2) NEARHIT_FORM(planes3)
                    NEARHIT_FORM(planes4) NEARHIT_FORM(bytes8) NEARHIT_FORM(words16) NEARHIT_FORM(holes)
                    NEARHIT_FORM(codes32)
#undef NEARHIT_FORM
                    case Form::overlap: break;
                }
            }
        }
    }
    void measure(size_t first, size_t stop) {
        measure(first, stop, nullptr, [](size_t, size_t, size_t) { return true; }, [](size_t, uint32_t, size_t, uint32_t*, size_t) {});
    }

private:
    template <Form FORM, class Wanted, class Found>
    void add_groups(size_t p, size_t g, size_t first, size_t stop, const uint32_t* starts, const int32_t* bounds, Wanted& wanted,
                    Found& found) {
        constexpr size_t W = words_of(FORM), T = tile_of(FORM).targets;
        constexpr size_t ROWS = static_cast<size_t>(tile_of(FORM).vectors) * LANES;
        const Part& part = layer_.parts[p];
        const size_t n = std::min(part.n_groups - g, groups_at_a_time(part)), more = std::min(part.n_groups - g - n, n);
        for (size_t t = 0; t < places_->size(); t += T)
            for (size_t panel = first; panel < stop; ++panel) {
                if (!wanted(t, T, panel)) continue;
                if (more) fetch(part.panel(panel) + (g + n) * W * PANEL, more * W * PANEL, t / T, (places_->size() + T - 1) / T);
                uint32_t* sums = of(t, panel - first);
                const Pass pass{starts ? starts + panel * PANEL : nullptr, sums, stride_, bounds ? bounds + t : nullptr, layer_.times};
                tile<FORM>(targets_[p].data() + (t * part.n_groups + g * T) * W, part.panel(panel) + g * W * PANEL, n, pass,
                           [&](size_t start, uint32_t within) { found(t, within, panel * PANEL + start, sums + start, ROWS); });
            }
    }

    // The groups to come, while these are at work: each tile asks for its share.
    static void fetch(const uint32_t* words, size_t n, size_t share, size_t of) {
        for (size_t at = n * share / of / 16 * 16; at < n * (share + 1) / of; at += 16) __builtin_prefetch(words + at, 0, 2);
    }

    // Kept distances hold what sums leave out: the target's own sum and the slack of the row.
    template <class Wanted, class Found>
    void read_kept(size_t first, size_t stop, const int32_t* bounds, Wanted& wanted, Found& found) {
        const size_t n = k_.order.n_places();
        for (size_t t = 0; t < places_->size(); ++t) {
            const uint32_t* row = layer_.kept.data() + (*places_)[t] * n;
            const Vec own = all(layer_.own[(*places_)[t]]);
            for (size_t panel = first; panel < stop; ++panel) {
                if (!wanted(t, 1, panel)) continue;
                uint32_t* sums = of(t, panel - first);
                Vec least = all(std::numeric_limits<int32_t>::max());
                for (size_t l = 0, at = panel * PANEL; l < PANEL; l += LANES, at += LANES) {
                    const Vec start = load(layer_.starts.data() + at), taken = add(own, load(layer_.own.data() + at));
                    const Vec sum = add(start, subtract(load(row + at), taken));
                    store(sums + l, sum);
                    least = smaller(least, sum);
                }
                if (bounds && lanes_up_to(least, bounds[t])) found(t, 1, panel * PANEL, sums, PANEL);
            }
        }
    }

    // ------------------------------------------------------------------------------------------- unknown values

    // What the unknown values of the targets are expected to differ by, for all rows of a chunk.
    void start_from_own_holes(size_t first, size_t stop) {
        const size_t slots = k_.expected.size();
        for (size_t t = 0; t < places_->size(); ++t)
            for (size_t p = first; p < stop; ++p) {
                uint32_t* sums = of(t, p - first);
                const uint32_t* toward = toward_ + p * slots * PANEL;
                std::copy_n(layer_.starts.data() + p * PANEL, PANEL, sums);
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
        for (size_t s = 0; s < slots; ++s)
            for (size_t t = 0; t < places_->size(); ++t)
                words[(t / T * slots + s) * T + t % T] = k_.from_known(layer_, s, k_.order.row((*places_)[t]), d);
    }

    const Packed& k_;
    const Layer& layer_;
    const uint32_t* toward_;
    const size_t stride_;
    const std::vector<size_t>* places_ = nullptr;             // of the targets
    std::vector<std::vector<uint32_t>> targets_;              // words of the targets, per part
    std::vector<uint32_t> sums_;                              // [target][row of the chunk]
};

}  // namespace nearhit
