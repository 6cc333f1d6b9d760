import type { Group, GroupMember } from '@countersign/protocol/accounts/groups'
import { useState } from 'preact/hooks'
import { toast } from '../../../components/frame/toast.ts'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { RouteLink } from '../../../components/frame/route.tsx'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { isolate } from '../../../lib/text/isolate.ts'
import { atHandle } from '../../../lib/text/handle.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { ListFoot } from '../reading/More.tsx'
import { Reading } from '../reading/Reading.tsx'
import { type List, useList } from '../reading/use-list.ts'
import { useReading } from '../reading/use-reading.ts'
import { type Navigate, routePath } from '../routes.ts'
import { AddMember } from './AddMember.tsx'
import { EditGroup } from './EditGroup.tsx'
import { isManual, ProtectedChip, useMayChangeGroup } from './protection.tsx'
import { useGroupsMessages } from './words.ts'

type Props = { groupId: string; goTo: Navigate }

/** One group: its members, and its deletion. */
export function GroupPage({ groupId, goTo }: Props) {
  const words = useGroupsMessages()
  const { ask, may } = useOperator()
  const mayChange = useMayChangeGroup()
  const params = { groupId }
  const group = useReading(() => ask('GET /api/admin/groups/:groupId', { params }), [])
  const members = useList<GroupMember>(async (cursor) => {
    const querystring = cursor === undefined ? {} : { cursor }
    const page = await ask('GET /api/admin/groups/:groupId/members', { params, querystring })
    return { items: page.members, nextCursor: page.nextCursor }
  }, [])
  const list = { section: 'groups' } as const
  return (
    <>
      <p>
        <RouteLink class="button ghost" href={routePath(list)} action="back-to-groups" onFollow={() => goTo(list)}>
          <Icon name="arrow-left" size="sm" />
          {words.back}
        </RouteLink>
      </p>
      <Reading of={group}>
        {(found) => (
          <>
            <PageHead
              title={found.displayName}
              lead={
                <span class="row">
                  <code dir="ltr">{found.key}</code>
                  {found.protected && <ProtectedChip />}
                </span>
              }
              actions={
                mayChange(found) && (
                  <>
                    {(isManual(found) || may('operators.manage')) && <EditGroup group={found} onChanged={group.set} />}
                    <DeleteGroup group={found} onDeleted={() => goTo(list, { replacing: true })} />
                  </>
                )
              }
            />
            {found.description !== null && <p class="soft">{found.description}</p>}
            <Members group={found} members={members} />
          </>
        )}
      </Reading>
    </>
  )
}

function Members({ group, members }: { group: Group; members: List<GroupMember> }) {
  const words = useGroupsMessages()
  const mayChange = useMayChangeGroup()
  const mayChangeMembers = isManual(group) && mayChange(group)
  const source = group.organizationId === null ? words.fromDirectory : words.fromProvider
  const [dialog, setDialog] = useState<GroupMember | 'add'>()
  const close = () => setDialog(undefined)
  return (
    <Card
      flush
      title={words.members}
      about={isManual(group) ? undefined : source}
      actions={
        mayChangeMembers && (
          <button type="button" class="button" data-action="ask-add-member" onClick={() => setDialog('add')}>
            <Icon name="user-plus" size="sm" />
            {words.addMember}
          </button>
        )
      }
    >
      <Reading of={members}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="users" title={words.noMembers} />
          ) : (
            <ul class="list">
              {items.map((member) => (
                <MemberRow
                  key={member.identityId}
                  member={member}
                  onRemove={mayChangeMembers ? () => setDialog(member) : undefined}
                />
              ))}
            </ul>
          )
        }
      </Reading>
      <ListFoot of={members} />
      {dialog === 'add' && <AddMember group={group} onClose={close} onAdded={members.again} />}
      {dialog !== undefined && dialog !== 'add' && (
        <RemoveMember group={group} member={dialog} onClose={close} onRemoved={members.again} />
      )}
    </Card>
  )
}

function MemberRow({ member, onRemove }: { member: GroupMember; onRemove: (() => void) | undefined }) {
  const words = useGroupsMessages()
  const { displayName, handle } = member
  return (
    <li>
      <Avatar name={displayName} toneOf={handle} size="sm" />
      <div class="body">
        <strong>{displayName}</strong>
        <small>{atHandle(handle)}</small>
      </div>
      {onRemove && (
        <div class="acts">
          <button
            type="button"
            class="button square ghost"
            aria-label={words.removeTitle(isolate(displayName))}
            data-action="ask-remove-member"
            onClick={onRemove}
          >
            <Icon name="user-x" />
          </button>
        </div>
      )}
    </li>
  )
}

type RemoveProps = { group: Group; member: GroupMember; onRemoved: () => void; onClose: () => void }

function RemoveMember({ group, member, onRemoved, onClose }: RemoveProps) {
  const words = useGroupsMessages()
  const { ask } = useOperator()
  const { identityId, displayName, handle } = member
  const act = {
    name: 'remove-group-member',
    label: words.remove,
    look: 'danger',
    do: async () => {
      const params = { groupId: group.groupId, identityId }
      await ask('DELETE /api/admin/groups/:groupId/members/:identityId', { params })
      onClose()
      onRemoved()
      toast(words.removed(isolate(displayName)))
    },
  } as const
  return (
    <Ask
      title={words.removeTitle(isolate(displayName))}
      act={act}
      onClose={onClose}
      command={['groups', 'remove', group.key, handle]}
    >
      <p>{words.removeWhat}</p>
    </Ask>
  )
}

function DeleteGroup({ group, onDeleted }: { group: Group; onDeleted: () => void }) {
  const words = useGroupsMessages()
  const { ask } = useOperator()
  const [isOpen, setOpen] = useState(false)
  const { groupId, key, displayName } = group
  const act = {
    name: 'delete-group',
    label: words.delete.now,
    look: 'danger',
    do: async () => {
      await ask('DELETE /api/admin/groups/:groupId', { params: { groupId } })
      onDeleted()
      toast(words.delete.done(isolate(displayName)))
    },
  } as const
  return (
    <>
      <button type="button" class="button danger-quiet" data-action="ask-delete-group" onClick={() => setOpen(true)}>
        {words.delete.open}
      </button>
      {isOpen && (
        <Ask
          title={words.delete.title(isolate(displayName))}
          act={act}
          onClose={() => setOpen(false)}
          command={['groups', 'delete', key, '--yes']}
        >
          <p>{words.delete.what}</p>
        </Ask>
      )}
    </>
  )
}
