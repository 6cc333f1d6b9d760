import { useState } from 'preact/hooks'
import { Field } from '../../../components/form/Field.tsx'
import { TextArea } from '../../../components/display/Facts.tsx'
import { faultyUris, useUriProblem } from '../../../components/uris/uri-problems.ts'
import { Disclosure } from '../../../components/ui/Disclosure.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { parseUrlList } from '../../../lib/urls.ts'
import { useMessages } from '../words.ts'
import { checkRedirectUri, type RedirectUriCheck } from '../../../lib/uris/redirect-uris.ts'

type Props = { value: string; isPublic: boolean; hasFault: boolean; onInput: (text: string) => void }

/** The redirect URIs of an app, with what is wrong with each, and a comparison with what the app sends. */
export function RedirectUris({ value, isPublic, hasFault, onInput }: Props) {
  const words = useMessages()
  const uris = parseUrlList(value)
  const faults = faultyUris(uris, isPublic)
  const problem = useUriProblem(hasFault ? uris : [], isPublic, words.redirects)
  const described = hasFault ? 1 : 0
  return (
    <>
      <TextArea
        name="redirectUris"
        label={words.developers.redirectUris}
        hint={words.developers.redirectUrisHint}
        value={value}
        onInput={onInput}
        problem={hasFault ? (problem ?? words.developers.redirectUrisInvalid) : undefined}
      />
      {faults.length > described && (
        <ul class="faults">
          {faults.slice(described).map(({ uri, fault }) => (
            <li key={uri} class="with-icon">
              <Icon name="circle-alert" size="sm" />
              <span>
                <code>{uri}</code> {words.redirects.faults[fault]}
              </span>
            </li>
          ))}
        </ul>
      )}
      <Disclosure summary={words.redirects.check} icon="scan-line">
        <Comparison registered={uris} />
      </Disclosure>
    </>
  )
}

function Comparison({ registered }: { registered: string[] }) {
  const words = useMessages().redirects
  const [sent, setSent] = useState('')
  return (
    <div class="stack">
      <p class="small soft">{words.checkWhat}</p>
      <Field
        name="sentRedirectUri"
        label={words.sent}
        value={sent}
        onInput={(text) => setSent(text.trim())}
        keys="url"
        exact
      />
      <Verdict of={checkRedirectUri(sent, registered)} />
    </div>
  )
}

function Verdict({ of: checked }: { of: RedirectUriCheck }) {
  const words = useMessages().redirects
  if (checked.kind === 'different')
    return (
      <p class="with-icon verdict bad" role="status">
        <Icon name="triangle-alert" size="sm" />
        <span>
          {words.differences[checked.difference]}{' '}
          {checked.registered !== undefined && <code>{checked.registered}</code>}
        </span>
      </p>
    )
  return (
    <p class={checked.kind === 'match' ? 'with-icon verdict ok' : 'verdict'} role="status">
      {checked.kind === 'match' && (
        <>
          <Icon name="circle-check" size="sm" />
          {words.matches}
        </>
      )}
      {checked.kind === 'notAbsolute' && words.faults.notAbsolute}
    </p>
  )
}
