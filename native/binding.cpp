// The binding only binds: typed, contiguous, read-only arrays in, arrays out, the interpreter lock released. Compiled
// once per instruction set into a module of its own, so that no code of one set can end up in another.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <vector>

#include <nanobind/stl/optional.h>

#include "coding.hpp"
#include "kernel.hpp"
#include "permute.hpp"

namespace nb = nanobind;
using namespace nearhit::NEARHIT_ISA;

template <class T, int DIMS> using In = nb::ndarray<const T, nb::numpy, nb::ndim<DIMS>, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T, int DIMS> using Maybe = std::optional<In<T, DIMS>>;

namespace {

template <class T> Out<T> give(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out<T>(kept->data(), {kept->size()}, owner);
}

template <class Array> auto pointer(const std::optional<Array>& array) { return array ? array->data() : nullptr; }

}  // namespace

namespace nearhit::NEARHIT_ISA {   // a type of its own per module: several may be loaded side by side

// A packed table with the arrays it looks at.
class Loaded {
public:
    Loaded(In<uint32_t, 2> numeric, Maybe<bool, 2> numeric_unknown, Maybe<uint8_t, 2> nominal8,
           Maybe<uint16_t, 2> nominal16, Maybe<bool, 2> nominal_unknown, In<int64_t, 1> n_codes, In<int32_t, 1> class_of,
           Maybe<uint32_t, 1> target, Maybe<int64_t, 1> units, Maybe<int64_t, 1> frequencies,
           In<int64_t, 1> uniform, In<double, 1> rank_weights, nb::dict recipe, size_t n_classes,
           bool writes_down) {
        TableView t{};
        t.n_rows = numeric.shape(0);
        t.n_numeric = numeric.shape(1);
        t.n_nominal = n_codes.shape(0);
        t.numeric = numeric.data();
        t.numeric_unknown = reinterpret_cast<const uint8_t*>(pointer(numeric_unknown));
        t.nominal8 = pointer(nominal8);
        t.nominal16 = pointer(nominal16);
        t.nominal_unknown = reinterpret_cast<const uint8_t*>(pointer(nominal_unknown));
        t.n_codes = n_codes.data();
        t.class_of = class_of.data();
        t.target = pointer(target);
        t.units = pointer(units);
        t.frequencies = pointer(frequencies);
        t.uniform = uniform.data();
        RecipeView r = read(recipe);
        r.rank_weights = rank_weights.data();
        r.n_rank_weights = rank_weights.shape(0);
        keep_ = nb::make_tuple(numeric, numeric_unknown, nominal8, nominal16, nominal_unknown, n_codes, class_of, target,
                               units, frequencies, uniform, rank_weights);
        nb::gil_scoped_release unlocked;
        packed_ = std::make_unique<Packed>(t, r, n_classes, writes_down);
    }

    // The shares of this work may run on different threads; all of them before anything else is asked.
    void prepare(size_t i, size_t n) {
        nb::gil_scoped_release unlocked;
        packed_->prepare(i, n);
    }

    // Rows as they stand in panels, where those that are near each other stand together.
    nb::object in_order(In<int64_t, 1> rows) const {
        std::vector<int64_t> sorted(rows.data(), rows.data() + rows.shape(0));
        const auto& place_of = packed_->order.place_of;
        std::sort(sorted.begin(), sorted.end(), [&](int64_t i, int64_t j) {
            return place_of[static_cast<size_t>(i)] < place_of[static_cast<size_t>(j)];
        });
        return nb::cast(give(std::move(sorted)));
    }

    // Room for all distances; then all stretches of panels, perhaps on different threads; then they are used.
    size_t begin_to_keep() { return kept_.begin(*packed_); }
    void keep(size_t stretch) {
        nb::gil_scoped_release unlocked;
        kept_.measure(*packed_, stretch);
    }
    void end_to_keep() { packed_->coarse.is_kept = true; }

    nb::object toward(size_t c, bool in_full) const {
        if (!packed_->expected.size()) return nb::none();
        std::vector<uint32_t> table;
        {
            nb::gil_scoped_release unlocked;
            table = packed_->toward(c, !packed_->filtered ? nullptr : in_full ? &packed_->full : &packed_->coarse);
        }
        return nb::cast(give(std::move(table)));
    }

    // Per row the sum of its distances, and that of their squares in two halves, each as two words.
    nb::object moments(In<int64_t, 1> rows, size_t batch, Maybe<uint32_t, 1> toward, Maybe<uint32_t, 1> toward_in_full) const {
        std::vector<uint64_t> words;
        {
            nb::gil_scoped_release unlocked;
            for (const Moments& m : moments_of(*packed_, kept_, rows.data(), rows.shape(0), batch, pointer(toward), pointer(toward_in_full)))
                for (const auto part : {m.sum, m.squares_low, m.squares_high}) {
                    words.push_back(static_cast<uint64_t>(part));
                    words.push_back(static_cast<uint64_t>(part >> 64));
                }
        }
        return nb::cast(give(std::move(words)));
    }

    nb::tuple run(In<int64_t, 1> rows, Maybe<int64_t, 2> radii, size_t batch, size_t candidates, size_t neighbours,
                  Maybe<uint32_t, 1> toward, int last_stage) const {
        BlockSums sums;
        {
            nb::gil_scoped_release unlocked;
            sums = nearhit::NEARHIT_ISA::run(*packed_, rows.data(), pointer(radii), rows.shape(0),
                                             {batch, candidates, neighbours}, pointer(toward), static_cast<Stage>(last_stage));
        }
        return give_sums(std::move(sums));
    }

    // With weights of all rows, [target][row].
    nb::tuple run_given(In<int64_t, 1> rows, In<double, 2> weights, size_t batch, size_t candidates, size_t neighbours) const {
        BlockSums sums;
        {
            nb::gil_scoped_release unlocked;
            sums = nearhit::NEARHIT_ISA::run_given(*packed_, rows.data(), weights.data(), rows.shape(0), {batch, candidates, neighbours});
        }
        return give_sums(std::move(sums));
    }

    // The distances of some rows of one class to all rows, one row's after the other's.
    nb::object distances(In<int64_t, 1> rows, size_t batch, Maybe<uint32_t, 1> toward, Maybe<uint32_t, 1> toward_in_full) const {
        std::vector<int64_t> found;
        {
            nb::gil_scoped_release unlocked;
            found = distances_of(*packed_, rows.data(), rows.shape(0), batch, pointer(toward), pointer(toward_in_full));
        }
        return nb::cast(give(std::move(found)));
    }

    // The same rows' neighbours one after the other: target, group, row, copies, and the weight of one copy.
    nb::tuple neighbours(In<int64_t, 1> rows, Maybe<int64_t, 2> radii, size_t batch, size_t candidates, size_t neighbours,
                         Maybe<uint32_t, 1> toward) const {
        Lists lists;
        {
            nb::gil_scoped_release unlocked;
            lists = list_neighbours(*packed_, rows.data(), pointer(radii), rows.shape(0), {batch, candidates, neighbours},
                                    pointer(toward));
        }
        return nb::make_tuple(give(std::move(lists.target)), give(std::move(lists.group)), give(std::move(lists.row)),
                              give(std::move(lists.copies)), give(std::move(lists.weight)));
    }

    // The diffs of pairs of rows, as codes: those of one pair after those of the other.
    nb::object diffs(In<int64_t, 1> rows, In<int64_t, 1> others) const {
        const size_t n = packed_->t.n_features();
        std::vector<uint32_t> codes(rows.shape(0) * n);
        {
            nb::gil_scoped_release unlocked;
            for (size_t i = 0; i < rows.shape(0); ++i)
                write_diffs(*packed_, static_cast<size_t>(rows.data()[i]), static_cast<size_t>(others.data()[i]), false,
                            codes.data() + i * n);
        }
        return nb::cast(give(std::move(codes)));
    }

    // The sums under permuted targets, [row][permutation]; of rows of one class of this table.
    nb::tuple permuted(In<int64_t, 1> rows, Maybe<uint16_t, 2> classes, Maybe<uint32_t, 2> numbers, size_t n_classes, bool squares,
                       size_t bytes, Maybe<uint32_t, 1> toward, Maybe<uint32_t, 1> toward_in_full) const {
        PermutedSums sums;
        {
            nb::gil_scoped_release unlocked;
            const PermutedTargets targets{pointer(classes), pointer(numbers), classes ? classes->shape(1) : numbers->shape(1), n_classes};
            Permuter permuter(*packed_, targets, squares, bytes);
            permuter.add(rows.data(), rows.shape(0), pointer(toward), pointer(toward_in_full));
            sums = permuter.finish();
        }
        return nb::make_tuple(give(std::move(sums.diffs)), give(std::move(sums.known)), give(std::move(sums.weight)));
    }

private:
    static nb::tuple give_sums(BlockSums&& sums) {
        return nb::make_tuple(give(std::move(sums.diffs_high)), give(std::move(sums.diffs)), give(std::move(sums.known_high)),
                              give(std::move(sums.known)), give(std::move(sums.weight_high)), give(std::move(sums.weight)),
                              give(std::move(sums.fewest)));
    }

    static RecipeView read(const nb::dict& d) {
        RecipeView r{};
        r.grouping = static_cast<Grouping>(nb::cast<int>(d["grouping"]));
        r.diff = static_cast<DiffKind>(nb::cast<int>(d["diff"]));
        r.weighing = static_cast<Weighing>(nb::cast<int>(d["weighing"]));
        r.rule = static_cast<Rule>(nb::cast<int>(d["rule"]));
        r.euclidean = nb::cast<bool>(d["euclidean"]);
        r.square_shift = nb::cast<int>(d["square_shift"]);
        r.ties_first = nb::cast<bool>(d["ties_first"]);
        r.counts_places = nb::cast<bool>(d["counts_places"]);
        r.whole_weights = nb::cast<bool>(d["whole_weights"]);
        r.radius = nb::cast<bool>(d["radius"]);
        r.far = nb::cast<bool>(d["far"]);
        r.measures = nb::cast<bool>(d["measures"]);
        r.largest_diff_of_hits = nb::cast<int64_t>(d["largest_diff_of_hits"]);
        r.power = nb::cast<int>(d["power"]);
        r.bits = nb::cast<int>(d["bits"]);
        r.places = nb::cast<int64_t>(d["places"]);
        r.one = nb::cast<int64_t>(d["one"]);
        r.grid = nb::cast<uint32_t>(d["grid"]);
        r.mismatch = nb::cast<uint32_t>(d["mismatch"]);
        r.ramp_equal = nb::cast<uint32_t>(d["ramp_equal"]);
        r.ramp_width = nb::cast<uint32_t>(d["ramp_width"]);
        r.ramp_slope = nb::cast<double>(d["ramp_slope"]);
        r.target_ramp_equal = nb::cast<uint32_t>(d["target_ramp_equal"]);
        r.target_ramp_slope = nb::cast<double>(d["target_ramp_slope"]);
        return r;
    }

    nb::tuple keep_;
    std::unique_ptr<Packed> packed_;
    Kept kept_;
};

}  // namespace nearhit

namespace {

// Numbers as the user has them: rows of any stride, columns side by side.
template <class Number> using Numbers = nb::ndarray<const Number, nb::ndim<2>, nb::device::cpu>;
template <class T> using InOut = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;

template <class Number> nb::tuple extremes(Numbers<Number> values) {
    std::vector<Number> low(values.shape(1)), high(values.shape(1));
    bool unknown;
    {
        nb::gil_scoped_release unlocked;
        unknown = find_extremes(values.data(), values.shape(0), values.shape(1), static_cast<size_t>(values.stride(0)),
                                low.data(), high.data());
    }
    return nb::make_tuple(give(std::move(low)), give(std::move(high)), unknown);
}

template <class Number>
void code(Numbers<Number> values, In<Number, 1> low, In<double, 1> width, double grid, InOut<uint32_t> codes,
          std::optional<InOut<bool>> unknown) {
    nb::gil_scoped_release unlocked;
    write_codes(values.data(), values.shape(0), values.shape(1), static_cast<size_t>(values.stride(0)), low.data(), width.data(),
                grid, codes.data(), static_cast<size_t>(codes.stride(0)), unknown ? unknown->data() : nullptr);
}

template <class Number> void define_coding(nb::module_& m) {
    m.def("find_extremes", extremes<Number>, nb::arg("values").noconvert());
    m.def("write_codes", code<Number>, nb::arg("values").noconvert(), nb::arg("low").noconvert(), nb::arg("width").noconvert(),
          nb::arg("grid"), nb::arg("codes").noconvert(), nb::arg("unknown").none());
}

// Whether this machine can run the module for an instruction set. Only the baseline module is asked.
bool runs_here(const std::string& isa) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (isa == "avx512")
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni") &&
               __builtin_cpu_supports("avx512vpopcntdq");
    if (isa == "avx2") return __builtin_cpu_supports("avx2");
#endif
    return isa == "baseline";
}

}  // namespace

#define NEARHIT_MODULE_(isa) _native_##isa
#define NEARHIT_MODULE(isa) NEARHIT_MODULE_(isa)

NB_MODULE(NEARHIT_MODULE(NEARHIT_ISA), m) {
    m.def("runs_here", [](const nb::str& isa) { return runs_here(isa.c_str()); });
    define_coding<float>(m);
    define_coding<double>(m);
    nb::class_<Loaded>(m, "Loaded")
        .def(nb::init<In<uint32_t, 2>, Maybe<bool, 2>, Maybe<uint8_t, 2>, Maybe<uint16_t, 2>, Maybe<bool, 2>, In<int64_t, 1>,
                      In<int32_t, 1>, Maybe<uint32_t, 1>, Maybe<int64_t, 1>, Maybe<int64_t, 1>, In<int64_t, 1>, In<double, 1>, nb::dict,
                      size_t, bool>(),
             nb::arg("numeric").noconvert(), nb::arg("numeric_unknown").none(), nb::arg("nominal8").none(),
             nb::arg("nominal16").none(), nb::arg("nominal_unknown").none(), nb::arg("n_codes").noconvert(),
             nb::arg("class_of").noconvert(), nb::arg("target").none(), nb::arg("units").none(),
             nb::arg("frequencies").none(),
             nb::arg("uniform").noconvert(), nb::arg("rank_weights").noconvert(), nb::arg("recipe"), nb::arg("n_classes"),
             nb::arg("writes_down"))
        .def("prepare", &Loaded::prepare, nb::arg("share"), nb::arg("of"))
        .def("in_order", &Loaded::in_order, nb::arg("rows").noconvert())
        .def("begin_to_keep", &Loaded::begin_to_keep)
        .def("keep", &Loaded::keep, nb::arg("stretch"))
        .def("end_to_keep", &Loaded::end_to_keep)
        .def("toward", &Loaded::toward, nb::arg("target_class"), nb::arg("in_full") = false)
        .def("moments", &Loaded::moments, nb::arg("rows").noconvert(), nb::arg("batch"), nb::arg("toward").none(),
             nb::arg("toward_in_full").none())
        .def("permuted", &Loaded::permuted, nb::arg("rows").noconvert(), nb::arg("classes").none(), nb::arg("numbers").none(),
             nb::arg("n_classes"), nb::arg("squares"), nb::arg("bytes"), nb::arg("toward").none(), nb::arg("toward_in_full").none())
        .def("run", &Loaded::run, nb::arg("rows").noconvert(), nb::arg("radii").none(), nb::arg("batch"),
             nb::arg("candidates"), nb::arg("neighbours"), nb::arg("toward").none(), nb::arg("last_stage") = static_cast<int>(Stage::sums))
        .def("run_given", &Loaded::run_given, nb::arg("rows").noconvert(), nb::arg("weights").noconvert(), nb::arg("batch"),
             nb::arg("candidates"), nb::arg("neighbours"))
        .def("distances", &Loaded::distances, nb::arg("rows").noconvert(), nb::arg("batch"), nb::arg("toward").none(),
             nb::arg("toward_in_full").none())
        .def("neighbours", &Loaded::neighbours, nb::arg("rows").noconvert(), nb::arg("radii").none(), nb::arg("batch"),
             nb::arg("candidates"), nb::arg("neighbours"), nb::arg("toward").none())
        .def("diffs", &Loaded::diffs, nb::arg("rows").noconvert(), nb::arg("others").noconvert());
}
