// Large arrays: not initialised (whoever packs them writes every word), aligned to cache lines, in huge pages where the
// system has them, because panels are walked with strides that would need an entry of the page table for every few rows.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace nearhit::NEARHIT_ISA {

template <class T>
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(size_t n) : size_(n) {
        constexpr size_t LINE = 64, HUGE_PAGE = size_t{1} << 21;
        const size_t bytes = n * sizeof(T), unit = bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : LINE;
        const size_t whole = (bytes + unit - 1) / unit * unit;
        data_.reset(static_cast<T*>(std::aligned_alloc(unit, whole ? whole : unit)));
        if (!data_) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
        if (unit == HUGE_PAGE) madvise(data_.get(), whole, MADV_HUGEPAGE);
#endif
    }
    T* data() { return data_.get(); }
    const T* data() const { return data_.get(); }
    T& operator[](size_t i) { return data_.get()[i]; }
    const T& operator[](size_t i) const { return data_.get()[i]; }
    size_t size() const { return size_; }

private:
    struct Free { void operator()(T* p) const { std::free(p); } };
    std::unique_ptr<T, Free> data_;
    size_t size_ = 0;
};

}  // namespace nearhit
