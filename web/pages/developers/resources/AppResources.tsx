import type { App } from '@countersign/protocol/clients/apps'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import type { Resource } from '@countersign/protocol/clients/resources'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../../../lib/api/call.ts'
import { withRecentAuthentication } from '../../../lib/keys/passkey.ts'
import { ActionButton, Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { Card, Empty, Skeleton } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { LearnMore } from '../LearnMore.tsx'
import type { KeptInput } from '../unsaved/kept-input.ts'
import { inputFor, ResourceForm, type ResourceInput } from './ResourceForm.tsx'
import { useMessages } from '../words.ts'

type Kept = KeptInput<ResourceInput>

/** Lists the resources that an app offers to other apps. The form in which something is typed is open. */
export function AppResources({ app: { clientId }, kept }: { app: App; kept: Kept }) {
  const words = useMessages()
  const doing = useActions()
  const [resources, setResources] = useState<Resource[]>()
  const read: Action = {
    name: 'retry',
    label: words.developers.retry,
    do: async () =>
      setResources((await call('GET /api/developer/apps/:clientId/resources', { params: { clientId } })).resources),
  }
  useEffect(() => void doing.perform(read), [])
  return resources ? (
    <Offered
      clientId={clientId}
      resources={resources}
      kept={kept}
      onSaved={(saved) => setResources((current) => current?.map((each) => (isSame(each, saved) ? saved : each)))}
      onAdded={(added) => setResources((current) => current && [...current, added])}
    />
  ) : (
    <Card title={words.resources.title} about={words.resources.what}>
      {doing.problem === undefined ? <Skeleton /> : <Actions of={[read]} doing={doing} />}
    </Card>
  )
}

function isSame(one: Resource, other: Resource): boolean {
  return one.resourceKey === other.resourceKey
}

type Save = (resource: Resource) => void
type OfferedProps = { clientId: string; resources: Resource[]; kept: Kept; onSaved: Save; onAdded: Save }

function Offered({ clientId, resources, kept, onSaved, onAdded }: OfferedProps) {
  const words = useMessages().resources
  const doing = useActions()
  const [adding, setAdding] = useState(inputFor(undefined, kept.of(clientId)) !== undefined)
  const add: Action = { name: 'add-resource', label: words.add, look: 'secondary', do: () => setAdding(true) }
  const isFull = resources.length >= pageLimits.resourcesPerAppMax
  return (
    <>
      <Card title={words.title} about={words.what} actions={<LearnMore guide="protect-a-resource" />} flush>
        {resources.length === 0 && <Empty icon="database" title={words.none} />}
        <ul class="list">
          {resources.map((resource) => (
            <Entry key={resource.resourceKey} clientId={clientId} resource={resource} kept={kept} onSaved={onSaved} />
          ))}
        </ul>
        <div class="card-foot">{isFull ? <p>{words.tooMany}</p> : <Actions of={[add]} doing={doing} />}</div>
      </Card>
      {adding && (
        <ResourceForm
          clientId={clientId}
          resource={undefined}
          kept={kept}
          onSaved={(resource) => {
            setAdding(false)
            onAdded(resource)
          }}
          onClose={() => setAdding(false)}
        />
      )}
    </>
  )
}

type EntryProps = { clientId: string; resource: Resource; kept: Kept; onSaved: Save }

function Entry({ clientId, resource, kept, onSaved }: EntryProps) {
  const { resources: words } = useMessages()
  const doing = useActions()
  const [changing, setChanging] = useState(inputFor(resource, kept.of(clientId)) !== undefined)
  const { resourceKey, status } = resource
  const setStatus = (next: Resource['status']) => async () => {
    const given = { params: { clientId, resourceKey }, body: { status: next } }
    onSaved(
      await withRecentAuthentication(() => call('PATCH /api/developer/apps/:clientId/resources/:resourceKey', given)),
    )
  }
  const change: Action = { name: 'change-resource', label: words.change, look: 'quiet', do: () => setChanging(true) }
  const turn: Action =
    status === 'active'
      ? { name: 'disable-resource', label: words.disable, look: 'danger-quiet', do: setStatus('disabled') }
      : { name: 'enable-resource', label: words.enable, look: 'quiet', do: setStatus('active') }
  return (
    <li data-state={status}>
      <span class="glyph">
        <Icon name="database" />
      </span>
      <Description of={resource} />
      <div class="acts">
        <ActionButton action={change} doing={doing} />
        <ActionButton action={turn} doing={doing} />
        <ErrorMessage of={doing.problem} />
      </div>
      {changing && (
        <ResourceForm
          clientId={clientId}
          resource={resource}
          kept={kept}
          onSaved={(saved) => {
            setChanging(false)
            onSaved(saved)
          }}
          onClose={() => setChanging(false)}
        />
      )}
    </li>
  )
}

function Description({ of: { resourceKey, displayName, audience, scopes, status } }: { of: Resource }) {
  const words = useMessages().developers
  return (
    <div class="body">
      <strong>
        {displayName}
        {status === 'disabled' && (
          <Chip tone="bad" icon="ban">
            {words.disabled}
          </Chip>
        )}
      </strong>
      <p>
        <code>{resourceKey}</code> · <code>{audience}</code>
      </p>
      <p>
        <code>{scopes.join(', ')}</code>
      </p>
    </div>
  )
}
