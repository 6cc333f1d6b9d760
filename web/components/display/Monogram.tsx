/** An app's initial instead of its icon: a page of ours loads nothing from elsewhere. */
export function Monogram({ name }: { name: string }) {
  return (
    <span class="monogram" aria-hidden="true">
      {initialOf(name).toUpperCase()}
    </span>
  )
}

/** The first character as people count them: one letter with its accents, one emoji with all its parts. */
function initialOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.trim())
  return first?.segment ?? ''
}
