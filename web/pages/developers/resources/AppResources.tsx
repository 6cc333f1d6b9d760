import type { App } from '@countersign/protocol/clients/apps'
import { limits } from '@countersign/protocol/formats/limits'
import type { Resource } from '@countersign/protocol/clients/resources'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../../lib/call.ts'
import { withFreshProof } from '../../../lib/passkey.ts'
import { ActionButton, Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Problem } from '../../../components/form/Problem.tsx'
import { Waiting } from '../../../components/display/Waiting.tsx'
import { ResourceForm } from './ResourceForm.tsx'
import { useWords } from '../words.ts'

/** What an app offers others to act at. */
export function AppResources({ app: { clientId } }: { app: App }) {
  const words = useWords()
  const doing = useDoing()
  const [resources, setResources] = useState<Resource[]>()
  const read: Action = {
    name: 'retry',
    label: words.developers.retry,
    do: async () =>
      setResources((await call('GET /api/developer/apps/:clientId/resources', { params: { clientId } })).resources),
  }
  useEffect(() => void doing.perform(read), [])
  return (
    <section class="step apart">
      <h2>{words.resources.title}</h2>
      <p>{words.resources.what}</p>
      {!resources && (doing.problem === undefined ? <Waiting /> : <Actions of={[read]} doing={doing} />)}
      {resources && (
        <Offered
          clientId={clientId}
          resources={resources}
          onKept={(kept) => setResources(resources.map((each) => (isSame(each, kept) ? kept : each)))}
          onAdded={(added) => setResources([...resources, added])}
        />
      )}
    </section>
  )
}

function isSame(one: Resource, other: Resource): boolean {
  return one.resourceKey === other.resourceKey
}

type Keep = (resource: Resource) => void
type OfferedProps = { clientId: string; resources: Resource[]; onKept: Keep; onAdded: Keep }

function Offered({ clientId, resources, onKept, onAdded }: OfferedProps) {
  const words = useWords().resources
  const doing = useDoing()
  const [adding, setAdding] = useState(false)
  const add: Action = { name: 'add-resource', label: words.add, look: 'secondary', do: () => setAdding(true) }
  return (
    <>
      <ul class="entries">
        {resources.map((resource) => (
          <Entry key={resource.resourceKey} clientId={clientId} resource={resource} onKept={onKept} />
        ))}
      </ul>
      {resources.length < limits.resourcesPerAppMax ? <Actions of={[add]} doing={doing} /> : <p>{words.tooMany}</p>}
      {adding && (
        <ResourceForm
          clientId={clientId}
          resource={undefined}
          onKept={(resource) => {
            setAdding(false)
            onAdded(resource)
          }}
          onClose={() => setAdding(false)}
        />
      )}
    </>
  )
}

type EntryProps = { clientId: string; resource: Resource; onKept: Keep }

function Entry({ clientId, resource, onKept }: EntryProps) {
  const { resources: words, developers } = useWords()
  const doing = useDoing()
  const [changing, setChanging] = useState(false)
  const { resourceKey, status } = resource
  const setStatus = (next: Resource['status']) => async () => {
    const given = { params: { clientId, resourceKey }, body: { status: next } }
    onKept(await withFreshProof(() => call('PATCH /api/developer/apps/:clientId/resources/:resourceKey', given)))
  }
  const change: Action = { name: 'change-resource', label: words.change, look: 'quiet', do: () => setChanging(true) }
  const turn: Action =
    status === 'active'
      ? { name: 'disable-resource', label: words.disable, look: 'quiet', do: setStatus('disabled') }
      : { name: 'enable-resource', label: developers.enable, look: 'quiet', do: setStatus('active') }
  return (
    <li class="entry" data-state={status}>
      <Description of={resource} />
      <div class="choices">
        <ActionButton action={change} doing={doing} />
        <ActionButton action={turn} doing={doing} />
      </div>
      <Problem of={doing.problem} />
      {changing && (
        <ResourceForm
          clientId={clientId}
          resource={resource}
          onKept={(kept) => {
            setChanging(false)
            onKept(kept)
          }}
          onClose={() => setChanging(false)}
        />
      )}
    </li>
  )
}

function Description({ of: { resourceKey, displayName, audience, scopes, status } }: { of: Resource }) {
  const words = useWords().developers
  return (
    <div>
      <h3 class="present">{displayName}</h3>
      <p>
        <code>{resourceKey}</code>
        {status === 'disabled' && `, ${words.disabled}`}
      </p>
      <p>
        <code>{audience}</code>
      </p>
      <p>
        <code>{scopes.join(', ')}</code>
      </p>
    </div>
  )
}
