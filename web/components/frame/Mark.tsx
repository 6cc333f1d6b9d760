/** The mark: a letter signed on a line. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true">
      <path class="mark-line" d="M3 27.5H29" />
      <path
        class="mark-letter"
        d="M22.5 9.5C21.5 5.5 16 4 12 8 7.500 12.500 8 22 14.500 22.500 20 23 24 17.500 28.500 16"
      />
    </svg>
  )
}
