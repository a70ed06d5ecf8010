// A list for a few elements. Up to N elements are stored in the object itself. So a plan of millions of actions does
// not allocate memory for each wait and operand. Elements are plain data.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace sluice {

template <class T, std::uint32_t N>
class Few {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  Few() = default;
  Few(std::initializer_list<T> list) { append(list.begin(), list.end()); }
  Few(const Few& other) { append(other.begin(), other.end()); }
  Few(Few&& other) noexcept { steal(other); }
  ~Few() { free(); }
  Few& operator=(const Few& other) {
    if (this == &other) return *this;
    size_ = 0;
    append(other.begin(), other.end());
    return *this;
  }
  Few& operator=(Few&& other) noexcept {
    if (this == &other) return *this;
    free();
    steal(other);
    return *this;
  }

  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& front() { return *begin(); }
  const T& front() const { return *begin(); }
  T& back() { return end()[-1]; }
  const T& back() const { return end()[-1]; }

  void push_back(const T& element) {
    const T copy = element;  // a copy, because `element` may be in this list, which grow() moves
    if (size_ == capacity_) grow(size_ + 1);
    new (end()) T(copy);
    ++size_;
  }
  template <class... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    push_back(T{std::forward<Arguments>(arguments)...});
    return back();
  }
  template <class Iterator>
  void append(Iterator from, Iterator to) {
    for (; from != to; ++from) push_back(*from);
  }
  void clear() { size_ = 0; }
  void pop_back() { --size_; }
  void erase(T* place) {
    std::copy(place + 1, end(), place);
    --size_;
  }

  friend bool operator==(const Few& a, const Few& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  bool inside() const { return capacity_ <= N; }
  T* data() { return inside() ? reinterpret_cast<T*>(store_) : heap(); }
  const T* data() const { return inside() ? reinterpret_cast<const T*>(store_) : heap(); }
  T* heap() const {
    T* place = nullptr;
    std::copy_n(store_, sizeof place, reinterpret_cast<std::byte*>(&place));
    return place;
  }
  // GCC 12 warns if it knows the elements of a list: it takes the bytes of the first element for the pointer that is
  // deleted, although the list owns no memory on the heap.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfree-nonheap-object"
  void free() {
    if (!inside()) ::operator delete(heap());
  }
#pragma GCC diagnostic pop
  /// Moves the elements of `other` into this list. This list must not own memory on the heap when the function is
  /// called.
  void steal(Few& other) noexcept {
    std::copy_n(other.store_, sizeof store_, store_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, N);
  }
  void grow(std::uint32_t least) {
    const std::uint32_t wanted = std::max(least, 2 * capacity_);
    T* place = static_cast<T*>(::operator new(wanted * sizeof(T)));
    std::copy(begin(), end(), place);
    free();
    std::copy_n(reinterpret_cast<const std::byte*>(&place), sizeof place, store_);
    capacity_ = wanted;
  }

  static constexpr std::size_t room = N * sizeof(T) > sizeof(T*) ? N * sizeof(T) : sizeof(T*);
  static constexpr std::size_t alignment = alignof(T) > alignof(T*) ? alignof(T) : alignof(T*);
  alignas(alignment) std::byte store_[room];
  std::uint32_t size_ = 0, capacity_ = N;
};

}  // namespace sluice
