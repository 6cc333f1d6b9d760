import type { Action } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { Note } from '../../../components/ui/Chip.tsx'
import { CodeBlock } from '../../../components/ui/Code.tsx'
import { Disclosure } from '../../../components/ui/Disclosure.tsx'
import { momentOf } from '../../../lib/text/dates.ts'
import { delegationCode } from '../code.ts'
import { decodeJwt } from '../jwt.ts'
import type { DemoApp } from '../Playground.tsx'
import type { DelegatedCall } from '../tokens.ts'
import { usePlaygroundWords } from '../words.ts'
import { Checks, Start } from './Result.tsx'

/** The fourth step: the app acts at another app for the user, with limits. */
export function Delegation({ app }: { app: DemoApp }) {
  const words = usePlaygroundWords()
  const { calendar } = app.view
  const identity = app.tour.identities.at(-1)
  const ask: Action = {
    name: 'ask-to-act',
    label: words.askToAct,
    icon: 'bot',
    look: app.delegated ? 'secondary' : 'primary',
    do: () =>
      app.begin('delegation', {
        resource: calendar.audience,
        scope: `openid profile ${calendar.scope}`,
        ...(identity && { identity_id: identity.sub }),
      }),
  }
  return (
    <>
      {app.delegated && <Acted call={app.delegated} requested={calendar} />}
      {identity ? <Start app={app} actions={[ask]} /> : <Note tone="wait">{words.signInFirst}</Note>}
      {!app.isRedeeming && (
        <CodeBlock
          code={delegationCode(app.view, { ...calendar, resource: calendar.resourceKey })}
          label={words.code}
          action="copy-code"
        />
      )}
    </>
  )
}

type ActedProps = { call: DelegatedCall; requested: DemoApp['view']['calendar'] }

function Acted({ call: { token, calendar }, requested }: ActedProps) {
  const words = usePlaygroundWords()
  const { language } = useLocale()
  const { header, claims } = decodeJwt(token)
  const { audience, scope, expiresAt } = calendar.verified
  return (
    <>
      <div class="grid-2 even">
        <Card title={words.calendarAnswer}>
          <ul class="list plain">
            {calendar.events.map(({ title, startsAt }) => (
              <li key={startsAt} class="event">
                <div class="body">
                  <strong>{title}</strong>
                  <small>{momentOf(startsAt, language)}</small>
                </div>
              </li>
            ))}
          </ul>
        </Card>
        <Checks
          title={words.calendarChecked}
          of={[
            // The calendar returns events only then.
            { key: 'signature', text: words.calendarChecks.signature, passed: calendar.events.length > 0 },
            {
              key: 'audience',
              text: words.calendarChecks.audience,
              passed: audience === requested.audience,
              note: <code>{audience}</code>,
            },
            {
              key: 'scope',
              text: words.calendarChecks.scope,
              passed: scope === requested.scope,
              note: <code>{scope}</code>,
            },
            {
              key: 'lifetime',
              text: words.calendarChecks.lifetime,
              passed: new Date(expiresAt) > new Date(),
              note: words.until(momentOf(expiresAt, language)),
            },
          ]}
        />
      </div>
      <Disclosure summary={words.delegatedToken}>
        <CodeBlock code={JSON.stringify(header, null, 2)} label={words.header} action="copy-header" />
        <CodeBlock code={JSON.stringify(claims, null, 2)} label={words.claims} action="copy-claims" />
      </Disclosure>
      <Note>
        {words.revokeAt} <a href="/account/apps">{words.accountApps}</a>
      </Note>
    </>
  )
}
