import type { Connector, SignInView } from '@countersign/protocol/pages'
import { placeOf } from '../../lib/place.ts'
import { Monogram } from '../../components/display/Monogram.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { Caution, OwnWords } from './AppHeading.tsx'

type Props = Pick<SignInView, 'app' | 'unverified'> & { connector: Connector }

/**
 * Which app wants to act at which other. Each name keeps to itself, in whichever direction it is written. The websites
 * are text: nobody should wander off from here.
 */
export function ConnectorHeading({ app, unverified, connector: { owner } }: Props) {
  const words = useWords().connect
  const name = unverified?.host ?? app.name
  return (
    <>
      <header class="connector-heading">
        <h1>
          <Monogram name={name} />
          <bdi>{name}</bdi> <small>{words.wants}</small> <Monogram name={owner.name} />
          <bdi>{owner.name}</bdi>
        </h1>
        {unverified && <OwnWords app={app} host={unverified.host} />}
        {!unverified && app.websiteUrl !== null && <p class="place">{placeOf(app.websiteUrl)}</p>}
        {owner.websiteUrl !== null && <p class="place of-target">{placeOf(owner.websiteUrl)}</p>}
      </header>
      {unverified && <Caution {...unverified} />}
    </>
  )
}
