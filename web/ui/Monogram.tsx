/** An app's initial instead of its icon: a page of ours loads nothing from elsewhere. */
export function Monogram({ name }: { name: string }) {
  const [initial = '?'] = new Intl.Segmenter().segment(name.trim())[Symbol.iterator]().map(({ segment }) => segment)
  return (
    <span class="monogram" aria-hidden="true">
      {initial.toUpperCase()}
    </span>
  )
}
