import type { AuthorizationResponse, UnverifiedFault } from '@countersign/protocol/pages'
import { redirectTargetLabel, submitRedirect } from '../../lib/navigation.ts'
import { useConsentMessages } from '../form/consent-words.ts'
import { StepHeading } from '../frame/Frame.tsx'
import { Disclosure } from '../ui/Disclosure.tsx'
import { Icon } from '../ui/Icon.tsx'

/** `silently` is set if the request forbids prompts (`prompt=none`) and one would be needed. */
type Props = UnverifiedFault & { leaving: AuthorizationResponse; silently?: boolean }

/** Shows the error of an unverified app's request. Only a click takes the browser back to such an app. */
export function Unfinished({ host, error, description, leaving, silently = false }: Props) {
  const words = useConsentMessages().unfinished
  const post = (event: Event) => {
    if (!leaving.fields) return
    event.preventDefault()
    submitRedirect(leaving)
  }
  return (
    <section class="stack loose">
      <span class="glyph wait big-glyph">
        <Icon name="unplug" />
      </span>
      <div class="stack tight">
        <StepHeading>{words.title}</StepHeading>
        <p class="lead">{silently ? words.silent(host) : words.why(host)}</p>
      </div>
      <a class="button big block" href={leaving.url} onClick={post}>
        {words.back(redirectTargetLabel(leaving.url))}
      </a>
      <Disclosure summary={words.forDevelopers} icon="code-xml">
        <p>
          <code>{error}</code> {description}
        </p>
      </Disclosure>
    </section>
  )
}
