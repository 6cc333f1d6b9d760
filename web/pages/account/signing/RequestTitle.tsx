import { lazy } from '../lazy.tsx'

/** Shows the exact characters, whose tables are too large to load before there is a request. */
const FirstLine = lazy(
  async () => (await import('../../../components/display/ExactText.tsx')).FirstLine,
  () => null,
)

/** Shows the first line of the text of a request, with the marks of the exact text. */
export function RequestTitle({ of: title }: { of: string }) {
  if (title === '') return null
  return (
    <div class="request-title">
      <FirstLine of={title} />
    </div>
  )
}
