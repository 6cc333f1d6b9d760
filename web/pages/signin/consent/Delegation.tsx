import type { Connector, SignInView } from '@countersign/protocol/pages'
import type { ComponentChildren } from 'preact'
import { PermissionList } from '../../../components/display/Facts.tsx'
import { useMessages } from '../../../components/frame/Root.tsx'
import { delegationState } from './delegating.ts'
import type { Grant } from '../steps.ts'

type Props = { view: SignInView; grant: Grant }

/**
 * Shows the delegation that an app requests: the new permissions, the resource, the times and the duration. If the
 * identity has not connected the app yet, also says that the app will recognize the user, unless it requests that
 * itself.
 */
export function Delegation({ view, grant }: Props) {
  const { connect: words, scopes } = useMessages()
  if (!view.connector || !grant.connector) return null
  const { fresh, known, mode, alsoAway } = delegationState(view.connector, grant.connector)
  const isNew = !grant.exists && !view.scope.includes('openid')
  return (
    <>
      {(fresh.length > 0 || alsoAway) && (
        <>
          <h2 class="facts-heading">{known.length > 0 ? words.mayAlso : words.may}</h2>
          <PermissionList of={fresh}>{alsoAway && <li>{words.whileAway}</li>}</PermissionList>
        </>
      )}
      {known.length > 0 && (
        <>
          <h2 class="facts-heading">{words.alreadyMay}</h2>
          <PermissionList of={known} />
        </>
      )}
      <dl class="facts">
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

/** The resource, if its name or description says more than the name of its app. */
function Where({ of: { displayName, description, owner } }: { of: Connector }) {
  const words = useMessages().connect
  if (displayName === owner.name && description === null) return null
  return (
    <Fact label={words.where}>
      <bdi>{displayName}</bdi>
      {description !== null && (
        <p class="about">
          <bdi>{description}</bdi>
        </p>
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
