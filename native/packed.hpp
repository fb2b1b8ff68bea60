// A table as the searches want it: rows in panels, columns packed, what is expected of unknown values.
#pragma once
#include "exact.hpp"

namespace nearhit::NEARHIT_ISA {

// Which unknown cells a row has: slots of `Expected`, row by row.
struct Holes {
    std::vector<size_t> begin;
    std::vector<uint32_t> slots;

    Holes(const TableView& t, const Expected& e) : begin(t.n_rows + 1, 0) {
        for (size_t i = 0; i < t.n_rows && e.size(); ++i) {
            for (size_t s = 0; s < e.size(); ++s)
                if (!t.known(i, e.feature(s))) slots.push_back(static_cast<uint32_t>(s));
            begin[i + 1] = slots.size();
        }
    }
    template <class F> void each(size_t row, F f) const {
        for (size_t h = begin[row]; h < begin[row + 1]; ++h) f(slots[h]);
    }
};

class Packed {
public:
    Packed(const TableView& table, const RecipeView& recipe, size_t n_classes)
        : t(table), r(recipe), order(t, n_classes, filters() && boxes_may_pay(t)), expected(t, r, n_classes),
          holes(t, expected), filtered(filters()) {
        if (filtered) {
            filter = make_filter(t, r, order.n_places());
            parts = make_parts(t, expected.features(), order.n_panels());
            if (boxes_may_pay(t)) boxes.reserve(t.n_numeric, order.n_panels());
        } else {
            code_panels = CodePanels(t, order.n_panels());
        }
    }
    Packed(const Packed&) = delete;

    // The share `i` of `n` of the work that threads can divide; all shares together before the first search.
    void prepare(size_t i, size_t n) {
        const auto share = [=](size_t of) { return std::pair(of * i / n, of * (i + 1) / n); };
        for (auto [s, stop] = share(expected.size()); s < stop; ++s) expected.learn_column(s);
        for (auto [p, stop] = share(order.n_panels()); p < stop; ++p) filtered ? pack(p) : code_panels.pack(t, order, p);
    }

    size_t n_groups() const {
        return r.grouping == Grouping::each_class ? order.classes.size() : r.grouping == Grouping::everyone ? 1 : 2;
    }
    size_t class_of(size_t row) const { return static_cast<size_t>(t.class_of[row]); }
    size_t group_of(size_t target_class, size_t other_class) const {
        if (r.grouping == Grouping::each_class) return other_class;
        return r.grouping == Grouping::everyone || target_class == other_class ? 0 : 1;
    }

    // What an unknown value of a row of class c differs by from every row, [panel][slot][64]. The filter wants it in its
    // units and less what the packed columns, where an unknown code is 0, have added already.
    std::vector<uint32_t> toward(size_t c) const {
        std::vector<uint32_t> table(order.n_places() * expected.size(), 0);
        for (size_t place = 0; place < order.n_places(); ++place) {
            if (!order.is_row(place)) continue;
            uint32_t* to = table.data() + place / PANEL * expected.size() * PANEL + place % PANEL;
            for (size_t s = 0; s < expected.size(); ++s) {
                const uint32_t diff = expected_diff(s, order.row(place), c);
                to[s * PANEL] = filtered ? in_filter_units(s, order.row(place), diff) : diff;
            }
        }
        return table;
    }
    // The same from one row of its own, known values only: for rows that have holes where it has none.
    uint32_t from_known(size_t s, size_t row, size_t c) const {
        if (!t.known(row, expected.feature(s))) return 0;
        return in_filter_units(s, row, expected_diff(s, row, c));
    }
    // The diff between a row and an unknown value of a row of class c.
    uint32_t expected_diff(size_t s, size_t row, size_t c) const {
        const size_t a = expected.feature(s);
        return t.known(row, a) ? expected.one(s, t.code(row, a), c) : expected.two(s, c, class_of(row));
    }

    const TableView t;
    const RecipeView r;
    const Order order;
    Expected expected;
    const Holes holes;
    const bool filtered;                 // complete or not, numbers with linear diffs and the Manhattan metric; or no numbers
    Filter filter;
    std::vector<Part> parts;
    Boxes boxes;
    CodePanels code_panels;

private:
    bool filters() const {
        if (t.n_numeric == 0 && !t.has_unknown()) return true;
        return !r.euclidean && (r.diff == DiffKind::linear || t.n_numeric == 0);
    }

    void pack(size_t p) {
        for (size_t place = p * PANEL; place < (p + 1) * PANEL; ++place)
            if (order.is_row(place)) measure_row(t, r, order.row(place), place, filter);
        for (Part& part : parts) pack_panel(t, filter, order, part, p);
        if (boxes.exist()) fit_box(p);
    }

    void fit_box(size_t p) {
        for (size_t a = 0; a < t.n_numeric; ++a) {
            uint32_t low = ~0u, high = 0;
            for (size_t place = p * PANEL; place < (p + 1) * PANEL && order.is_row(place); ++place) {
                const uint32_t q = filter.quantum(t.code(order.row(place), a));
                low = std::min(low, q);
                high = std::max(high, q);
            }
            boxes.edge(p, a, 0) = static_cast<int32_t>(low);
            boxes.edge(p, a, 1) = static_cast<int32_t>(high);
        }
        boxes.slack[p] = *std::max_element(filter.slack.begin() + static_cast<std::ptrdiff_t>(p * PANEL),
                                           filter.slack.begin() + static_cast<std::ptrdiff_t>((p + 1) * PANEL));
    }

    uint32_t in_filter_units(size_t s, size_t row, uint32_t diff) const {
        const size_t a = expected.feature(s);
        const uint32_t code = t.code(row, a);
        const uint32_t added = a < t.n_numeric ? filter.quantum(code) : code ? filter.mismatch : 0;
        return filter.quantum(diff) - added;
    }
};

}  // namespace nearhit
