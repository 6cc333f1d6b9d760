import { useRef, useState } from 'preact/hooks'
import { Field } from '../../../components/form/Field.tsx'
import { TextArea } from '../../../components/display/Facts.tsx'
import { Disclosure } from '../../../components/ui/Disclosure.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { parseUrlList } from '../../../lib/urls.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { type DeveloperWords, useMessages } from '../words.ts'
import { checkRedirectUri, redirectUriFault, type RedirectUriCheck, rulesFor } from './redirect-uris.ts'

function faultsIn(uris: string[], isPublic: boolean) {
  const rules = rulesFor(isPublic)
  return uris.flatMap((uri, index) => {
    const fault = redirectUriFault(uri, rules)
    return fault ? [{ uri, index, fault }] : []
  })
}

/**
 * Returns a sentence about the first URI with a fault, or undefined. The sentence stays the same while that URI is
 * corrected, because screen readers would announce another one with every character.
 */
export function useProblem(uris: string[], isPublic: boolean, words: DeveloperWords): string | undefined {
  const [first] = faultsIn(uris, isPublic)
  const found = first && {
    what: `${first.fault} ${first.index} ${uris.length}`,
    text: `${isolate(first.uri)} ${words.redirects.faults[first.fault]}`,
  }
  const said = useRef(found)
  if (said.current?.what !== found?.what) said.current = found
  return said.current?.text
}

type Props = { value: string; isPublic: boolean; hasFault: boolean; onInput: (text: string) => void }

/** The redirect URIs of an app, with what is wrong with each, and a comparison with what the app sends. */
export function RedirectUris({ value, isPublic, hasFault, onInput }: Props) {
  const words = useMessages()
  const uris = parseUrlList(value)
  const faults = faultsIn(uris, isPublic)
  const problem = useProblem(hasFault ? uris : [], isPublic, words)
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
