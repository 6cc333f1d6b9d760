import { Actions } from '../../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../../components/form/use-actions.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { CodeBlock } from '../../../components/ui/Code.tsx'
import { Disclosure } from '../../../components/ui/Disclosure.tsx'
import { Facts } from '../../../components/ui/Facts.tsx'
import { type Check, decodeJwt } from '../jwt.ts'
import { type PlaygroundTokens, truncateToken } from '../tokens.ts'
import { usePlaygroundWords } from '../words.ts'
import { Checks } from './Result.tsx'
import { atHandle } from '../../../lib/text/handle.ts'

type Props = {
  got: PlaygroundTokens
  start: Action
  doing: ActionState
  onRefresh: (refreshToken: string) => Promise<void>
}

/** Shows everything that an app receives. */
export function TokenDetails({ got, start, doing, onRefresh }: Props) {
  const words = usePlaygroundWords()
  const { tokens, userinfo, checks, refreshes } = got
  const refreshToken = tokens.refresh_token
  const refresh: Action[] = refreshToken
    ? [
        {
          name: 'refresh',
          label: words.refresh,
          look: 'secondary',
          icon: 'refresh-cw',
          do: () => onRefresh(refreshToken),
        },
      ]
    : []
  const results = Object.entries(checks ?? {}) as [Check, boolean][]
  return (
    <>
      <div class="grid-2 even">
        <Card
          title={words.gotTitle}
          actions={
            <Chip tone="ok" icon="circle-check">
              {words.signedIn}
            </Chip>
          }
        >
          <Facts
            of={[
              { label: words.facts.name, value: userinfo.name ?? '' },
              { label: words.facts.username, value: atHandle(userinfo.preferred_username ?? '') },
              { label: words.facts.sub, value: <code class="sub">{userinfo.sub}</code> },
              { label: words.facts.email, value: userinfo.email ?? words.facts.notShared },
            ]}
          />
          <p class="refreshed small" role="status">
            {refreshes > 0 && words.refreshed(refreshes)}
          </p>
        </Card>
        <Checks
          of={results.map(([check, passed]) => ({
            key: check,
            text: words.checkNames[check],
            passed,
            note: passed && check === 'nonce' && refreshes > 0 ? words.noNonce : undefined,
          }))}
        />
      </div>
      <Actions of={[...refresh, start]} doing={doing} />
      <div class="stack tight">
        {tokens.id_token && <Jwt title={words.idToken} jwt={tokens.id_token} open />}
        <Jwt title={words.accessToken} jwt={tokens.access_token_jwt} />
        <Json title={words.userinfo} value={userinfo} />
        <Json title={words.response} value={truncateToken(tokens)} />
      </div>
    </>
  )
}

function Jwt({ title, jwt, open = false }: { title: string; jwt: string; open?: boolean }) {
  const words = usePlaygroundWords()
  const { header, claims } = decodeJwt(jwt)
  return (
    <Disclosure summary={title} open={open}>
      <CodeBlock code={JSON.stringify(header, null, 2)} label={words.header} action="copy-header" />
      <CodeBlock code={JSON.stringify(claims, null, 2)} label={words.claims} action="copy-claims" />
    </Disclosure>
  )
}

function Json({ title, value }: { title: string; value: unknown }) {
  return (
    <Disclosure summary={title}>
      <CodeBlock code={JSON.stringify(value, null, 2)} label={title} action="copy-json" />
    </Disclosure>
  )
}
