import type { Leaving, UnverifiedFault } from '@countersign/protocol/pages'
import { leave } from '../../lib/leave.ts'
import { placeOf } from '../../lib/place.ts'
import { useWords } from '../frame/Root.tsx'
import { StepHeading } from '../frame/StepHeading.tsx'

/** `silently` where the request allows no question to the user, and one would be needed. */
type Props = UnverifiedFault & { leaving: Leaving; silently?: boolean }

/** The request of an unverified app has no answer but an error: the browser takes it there by a click alone. */
export function Unfinished({ host, error, description, leaving, silently = false }: Props) {
  const { unfinished: words, error: fault } = useWords()
  const post = (event: Event) => {
    if (!leaving.fields) return
    event.preventDefault()
    leave(leaving)
  }
  return (
    <>
      <StepHeading>{words.title}</StepHeading>
      <p class="lead">{silently ? words.silent(host) : words.why(host)}</p>
      <p>
        <a class="button secondary" href={leaving.url} onClick={post}>
          {words.back(placeOf(leaving.url))}
        </a>
      </p>
      <details class="reference">
        <summary>{fault.forDevelopers}</summary>
        <p>
          <code>{error}</code> {description}
        </p>
      </details>
    </>
  )
}
