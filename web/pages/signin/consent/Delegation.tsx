import type { Connector, SignInView } from '@countersign/protocol/pages'
import type { ComponentChildren } from 'preact'
import { Permits } from '../../../components/display/Permits.tsx'
import { useWords } from '../../../components/frame/Root.tsx'
import { delegatingOf } from './delegating.ts'
import type { Grant } from '../steps.ts'

type Props = { view: SignInView; grant: Grant }

/**
 * What an app wants to do at another, if it wants that: what of it is new, where, when and for how long. Of an app that
 * is new to the identity it says as well that it will know it again, where the app does not ask for that itself.
 */
export function Delegation({ view, grant }: Props) {
  const { connect: words, scopes } = useWords()
  if (!view.connector || !grant.connector) return null
  const { fresh, known, mode, alsoAway } = delegatingOf(view.connector, grant.connector)
  const isNew = !grant.exists && !view.scope.includes('openid')
  return (
    <>
      {(fresh.length > 0 || alsoAway) && (
        <>
          <h2 class="facts-heading">{known.length > 0 ? words.mayAlso : words.may}</h2>
          <Permits of={fresh}>{alsoAway && <li>{words.whileAway}</li>}</Permits>
        </>
      )}
      {known.length > 0 && (
        <>
          <h2 class="facts-heading">{words.alreadyMay}</h2>
          <Permits of={known} />
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

/** The resource, where its name or its description says more than the name of its app. */
function Where({ of: { displayName, description, owner } }: { of: Connector }) {
  const words = useWords().connect
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
