// The layout that the tile kernels read: rows sorted by class, each class padded to whole panels of 64 rows, and
// every panel stored [group][word][64 rows], one 32-bit word per row.
//
// A group is 2 numeric columns of 16 bits, 32 columns of 1 to 4 bit planes, 4 columns of bytes or 2 of 16-bit codes.
#pragma once
#include <algorithm>
#include <vector>

#include "table.hpp"

namespace nearhit::NEARHIT_ISA {

struct Segment { size_t first_panel, n_panels, first_place, n_rows; };   // the rows of one class

struct Order {
    std::vector<int64_t> row_of;         // per place in panels: the row, or -1 for padding
    std::vector<size_t> place_of;        // per row
    std::vector<Segment> classes;

    Order(const TableView& t, size_t n_classes) : place_of(t.n_rows), classes(n_classes) {
        for (size_t i = 0; i < t.n_rows; ++i) ++classes[static_cast<size_t>(t.class_of[i])].n_rows;
        size_t panels = 0;
        for (Segment& s : classes) {
            s.first_panel = panels;
            s.first_place = panels * PANEL;
            s.n_panels = (s.n_rows + PANEL - 1) / PANEL;
            panels += s.n_panels;
        }
        row_of.assign(panels * PANEL, -1);
        std::vector<size_t> next;
        for (const Segment& s : classes) next.push_back(s.first_place);
        for (size_t i = 0; i < t.n_rows; ++i) {
            const size_t place = next[static_cast<size_t>(t.class_of[i])]++;
            row_of[place] = static_cast<int64_t>(i);
            place_of[i] = place;
        }
    }
    size_t n_panels() const { return row_of.size() / PANEL; }
};

enum class Form : int { numeric16, planes1, planes2, planes3, planes4, bytes8, words16 };

constexpr int words_of(Form form) {
    return form >= Form::planes1 && form <= Form::planes4 ? static_cast<int>(form) : 1;
}
constexpr size_t columns_per_group(Form form) {
    if (form == Form::bytes8) return 4;
    return form == Form::numeric16 || form == Form::words16 ? 2 : 32;
}
inline Form form_for(int64_t n_codes) {
    if (n_codes > 256) return Form::words16;
    if (n_codes > 16) return Form::bytes8;
    return n_codes <= 2 ? Form::planes1 : n_codes <= 4 ? Form::planes2 : n_codes <= 8 ? Form::planes3 : Form::planes4;
}

// Columns of one form, packed.
struct Part {
    Form form;
    std::vector<size_t> columns;         // numeric or nominal column numbers
    size_t n_groups = 0;
    std::vector<uint32_t> words;         // [panel][group][word][64]

    size_t panel_size() const { return n_groups * static_cast<size_t>(words_of(form)) * PANEL; }
    const uint32_t* panel(size_t p) const { return words.data() + p * panel_size(); }
};

// The 15-bit filter: q = round(code / 2^shift), and how far a row's distances can be off because of the rounding.
struct Filter {
    int shift = 16;
    uint32_t mismatch = 1;               // in filter units
    std::vector<uint32_t> slack;         // per place: the sum of |code - q * 2^shift|, in filter units, rounded up
    std::vector<int32_t> sum;            // per place: the sum of q - 2^14
    bool exact = true;                   // no numeric column: distances are counts of mismatches

    uint32_t quantum(uint32_t code) const {
        return static_cast<uint32_t>((uint64_t{code} + (uint64_t{1} << (shift - 1))) >> shift);
    }
};
constexpr int32_t CENTRE = 1 << 14;      // signed 16-bit halves hold 0 ... 2^15 only when centred

inline Filter make_filter(const TableView& t, const RecipeView& r, const Order& order) {
    Filter f;
    f.exact = t.n_numeric == 0;
    f.slack.assign(order.row_of.size(), 0);
    f.sum.assign(order.row_of.size(), 0);
    if (f.exact) return f;
    // A distance in filter units, with three times the slack of a row, must fit 31 bits.
    while (((uint64_t{1} << (31 - f.shift)) + 4) * t.n_features() >= (uint64_t{1} << 31) - 1) ++f.shift;
    f.mismatch = f.quantum(r.mismatch);
    const uint64_t mismatch_off = apart(r.mismatch, f.mismatch << f.shift) * uint64_t{t.n_nominal};
    for (size_t i = 0; i < t.n_rows; ++i) {
        const uint32_t* codes = t.numeric + i * t.n_numeric;
        uint64_t off = mismatch_off;
        int64_t sum = 0;
        for (size_t a = 0; a < t.n_numeric; ++a) {
            const uint32_t q = f.quantum(codes[a]);
            off += apart(codes[a], q << f.shift);
            sum += static_cast<int32_t>(q) - CENTRE;
        }
        f.slack[order.place_of[i]] = static_cast<uint32_t>((off + (uint64_t{1} << f.shift) - 1) >> f.shift);
        f.sum[order.place_of[i]] = static_cast<int32_t>(sum);
    }
    return f;
}

// One word of a row: the columns of a group that exist, the others 0 (which differ from nobody).
inline void pack_group(const TableView& t, const Filter& f, const Part& part, size_t row, size_t group, uint32_t* out) {
    const size_t width = columns_per_group(part.form), first = group * width;
    const size_t n = std::min(width, part.columns.size() - first);
    const size_t* columns = part.columns.data() + first;
    if (part.form == Form::numeric16) {
        uint32_t word = 0;
        for (size_t a = 0; a < n; ++a) {
            const uint32_t q = f.quantum(t.numeric[row * t.n_numeric + columns[a]]) - CENTRE;
            word |= (q & 0xFFFFu) << (16 * a);
        }
        out[0] = word;
        return;
    }
    if (part.form == Form::bytes8 || part.form == Form::words16) {
        uint32_t word = 0;
        for (size_t a = 0; a < n; ++a) word |= t.nominal(row, columns[a]) << (32 / width * a);
        out[0] = word;
        return;
    }
    const int planes = words_of(part.form);
    for (int p = 0; p < planes; ++p) out[p * PANEL] = 0;
    for (size_t a = 0; a < n; ++a) {
        const uint32_t code = t.nominal(row, columns[a]);
        for (int p = 0; p < planes; ++p) out[p * PANEL] |= (code >> p & 1u) << a;
    }
}

inline void pack_panels(const TableView& t, const Filter& f, const Order& order, Part& part) {
    const size_t words = static_cast<size_t>(words_of(part.form));
    for (size_t place = 0; place < order.row_of.size(); ++place) {
        if (order.row_of[place] < 0) continue;
        uint32_t* panel = part.words.data() + place / PANEL * part.panel_size() + place % PANEL;
        for (size_t g = 0; g < part.n_groups; ++g)
            pack_group(t, f, part, static_cast<size_t>(order.row_of[place]), g, panel + g * words * PANEL);
    }
}

inline std::vector<Part> make_parts(const TableView& t, const Filter& f, const Order& order) {
    std::vector<Part> parts;
    const auto part_of = [&](Form form) -> Part& {
        for (Part& part : parts)
            if (part.form == form) return part;
        parts.push_back({form, {}, 0, {}});
        return parts.back();
    };
    for (size_t a = 0; a < t.n_numeric; ++a) part_of(Form::numeric16).columns.push_back(a);
    for (size_t a = 0; a < t.n_nominal; ++a) part_of(form_for(t.n_codes[a])).columns.push_back(a);
    for (Part& part : parts) {
        const size_t width = columns_per_group(part.form);
        part.n_groups = (part.columns.size() + width - 1) / width;
        part.words.assign(part.panel_size() * order.n_panels(), 0);
        pack_panels(t, f, order, part);
    }
    return parts;
}

}  // namespace nearhit
