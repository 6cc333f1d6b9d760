import type { Connector, SignInView } from '@countersign/protocol/pages'
import type { ComponentChildren } from 'preact'
import type { Permission } from '../../../components/display/Facts.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { useConsentMessages } from '../../../components/form/consent-words.ts'
import { delegationState } from './delegating.ts'
import type { Grant } from '../steps.ts'

type Props = { view: SignInView; grant: Grant }

/**
 * Shows the delegation that an app requests: the new permissions, the resource, the times and the duration. If the
 * identity has not connected the app yet, also says that the app will recognize the user, unless it requests that
 * itself.
 */
export function Delegation({ view, grant }: Props) {
  const { connect: words, scopes } = useConsentMessages()
  if (!view.connector || !grant.connector) return null
  const { fresh, known, mode, alsoAway } = delegationState(view.connector, grant.connector)
  const isNew = !grant.exists && !view.scope.includes('openid')
  return (
    <>
      <div class="stack">
        {(fresh.length > 0 || alsoAway) && (
          <>
            <h2>{known.length > 0 ? words.mayAlso : words.may}</h2>
            <PermitList of={fresh}>
              {alsoAway && <Permit icon="check">{words.whileAway}</Permit>}
              {known.length === 0 && <Permit icon="x">{words.nothingElse}</Permit>}
            </PermitList>
          </>
        )}
        {known.length > 0 && (
          <>
            <h2>{words.alreadyMay}</h2>
            <PermitList of={known} />
          </>
        )}
      </div>
      <dl class="facts ruled">
        <Where of={view.connector} />
        <Fact label={words.when}>{words.modes[mode]}</Fact>
        <Fact label={words.until}>
          <a href="/account/apps" target="_blank" rel="noreferrer">
            {words.untilValue}
          </a>
        </Fact>
        {isNew && <Fact label={scopes.openid}>{scopes.openidValue}</Fact>}
      </dl>
    </>
  )
}

/** Lists what an app may do at another app: the descriptions, and the scopes that both apps use. */
function PermitList({ of, children }: { of: Permission[]; children?: ComponentChildren }) {
  return (
    <ul class="permits">
      {of.map(({ scope, description }) => (
        <Permit key={scope} icon="check">
          {description !== '' && <bdi>{description}</bdi>}
          <small>
            <code>{scope}</code>
          </small>
        </Permit>
      ))}
      {children}
    </ul>
  )
}

function Permit({ icon, children }: { icon: 'check' | 'x'; children: ComponentChildren }) {
  return (
    <li class={icon === 'x' ? 'no' : undefined}>
      <Icon name={icon} />
      <span class={icon === 'x' ? 'soft' : undefined}>{children}</span>
    </li>
  )
}

/** The resource, if its name or description says more than the name of its app. */
function Where({ of: { displayName, description, owner } }: { of: Connector }) {
  const words = useConsentMessages().connect
  if (displayName === owner.name && description === null) return null
  return (
    <Fact label={words.where}>
      <bdi>{displayName}</bdi>
      {description !== null && (
        <small>
          <bdi>{description}</bdi>
        </small>
      )}
    </Fact>
  )
}

function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}
