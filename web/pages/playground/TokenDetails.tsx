import { Actions } from '../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../components/form/use-actions.ts'
import { usePlaygroundWords } from './words.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { type Check, type Checks, decodeJwt } from './jwt.ts'
import { type PlaygroundTokens, truncateToken } from './tokens.ts'
import type { Callback } from './callback.ts'

type TokenDetailsProps = {
  got: PlaygroundTokens
  start: Action
  doing: ActionState
  onRefresh: (refreshToken: string) => Promise<void>
}

/** Shows everything that an app receives. */
export function TokenDetails({ got, start, doing, onRefresh }: TokenDetailsProps) {
  const words = usePlaygroundWords()
  const { tokens, userinfo, checks, refreshes } = got
  const refreshToken = tokens.refresh_token
  const refresh: Action[] = refreshToken
    ? [{ name: 'refresh', label: words.refresh, do: () => onRefresh(refreshToken) }]
    : []
  return (
    <section class="step">
      <StepHeading>{words.gotTitle}</StepHeading>
      <p class="refreshed" role="status">
        {refreshes > 0 && words.refreshed(refreshes)}
      </p>
      {checks && <CheckList checks={checks} refreshed={refreshes > 0} />}
      <Actions of={[...refresh, { ...start, look: 'secondary' }]} doing={doing} />
      {tokens.id_token && <Jwt title={words.idToken} jwt={tokens.id_token} open />}
      <Jwt title={words.accessToken} jwt={tokens.access_token_jwt} />
      <Json title={words.userinfo} value={userinfo} />
      <Json title={words.response} value={truncateToken(tokens)} />
    </section>
  )
}

function CheckList({ checks, refreshed }: { checks: Checks; refreshed: boolean }) {
  const words = usePlaygroundWords()
  const results = Object.entries(checks) as [Check, boolean][]
  const verdict = (check: Check, passed: boolean) => {
    if (!passed) return words.failed
    return check === 'nonce' && refreshed ? words.noNonce : words.passed
  }
  return (
    <>
      <h2 class="facts-heading">{words.checks}</h2>
      <dl class="facts checks">
        {results.map(([check, passed]) => (
          <div key={check} class={passed ? 'fact' : 'fact failed'}>
            <dt>{words.checkNames[check]}</dt>
            <dd>{verdict(check, passed)}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

function Jwt({ title, jwt, open = false }: { title: string; jwt: string; open?: boolean }) {
  const words = usePlaygroundWords()
  const { header, claims } = decodeJwt(jwt)
  return (
    <details open={open}>
      <summary>{title}</summary>
      <h3>{words.header}</h3>
      <pre>{JSON.stringify(header, null, 2)}</pre>
      <h3>{words.claims}</h3>
      <pre>{JSON.stringify(claims, null, 2)}</pre>
    </details>
  )
}

function Json({ title, value }: { title: string; value: unknown }) {
  return (
    <details>
      <summary>{title}</summary>
      <pre>{JSON.stringify(value, null, 2)}</pre>
    </details>
  )
}

type ErrorDetailsProps = { callback: Exclude<Callback, { kind: 'none' | 'code' }> }

/** Shows what the app received instead of a code: the protocol error, or the reason why it rejected the response. */
export function ErrorDetails({ callback }: ErrorDetailsProps) {
  const words = usePlaygroundWords()
  if (callback.kind !== 'refusal') return <p class="lead">{words[callback.kind]}</p>
  return (
    <>
      <p class="lead">{callback.description}</p>
      <p>
        <code>{callback.error}</code>
      </p>
    </>
  )
}
