import type { AuthorizationResponse, UnverifiedFault } from '@countersign/protocol/pages'
import { redirectTargetLabel, submitRedirect } from '../../lib/navigation.ts'
import { useMessages } from '../frame/Root.tsx'
import { StepHeading } from '../frame/Frame.tsx'

/** `silently` is set if the request forbids prompts (`prompt=none`) and one would be needed. */
type Props = UnverifiedFault & { leaving: AuthorizationResponse; silently?: boolean }

/** Shows the error of an unverified app's request. Only a click takes the browser back to such an app. */
export function Unfinished({ host, error, description, leaving, silently = false }: Props) {
  const { unfinished: words, error: fault } = useMessages()
  const post = (event: Event) => {
    if (!leaving.fields) return
    event.preventDefault()
    submitRedirect(leaving)
  }
  return (
    <>
      <StepHeading>{words.title}</StepHeading>
      <p class="lead">{silently ? words.silent(host) : words.why(host)}</p>
      <p>
        <a class="button secondary" href={leaving.url} onClick={post}>
          {words.back(redirectTargetLabel(leaving.url))}
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
