import type { AccountInvitation, NewAccountInvitation } from '@countersign/protocol/accounts/invitations'
import { useState } from 'preact/hooks'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { useOperator } from '../acting/operator.ts'
import { ListFoot } from '../reading/More.tsx'
import { Reading } from '../reading/Reading.tsx'
import { useList } from '../reading/use-list.ts'
import { ImportInvitations } from './ImportInvitations.tsx'
import { InvitationTable } from './InvitationTable.tsx'
import { IssuedLink, ResendInvitation, RevokeInvitation } from './InvitationDialogs.tsx'
import { NewInvitation } from './NewInvitation.tsx'
import { useInvitationsMessages } from './words.ts'

export type InvitationAct = { about: 'resend' | 'revoke'; invitation: AccountInvitation }

/** Lists the invitations to register an account. */
export function Invitations() {
  const words = useInvitationsMessages()
  const { ask, may } = useOperator()
  const [dialog, setDialog] = useState<'new' | 'import' | { url: string } | InvitationAct>()
  const invitations = useList<AccountInvitation>(async (cursor) => {
    const page = await ask('GET /api/admin/invitations', { querystring: cursor === undefined ? {} : { cursor } })
    return { items: page.invitations, nextCursor: page.nextCursor }
  }, [])
  const close = () => setDialog(undefined)
  const refresh = ({ url }: Partial<NewAccountInvitation> = {}) => {
    setDialog(url === undefined ? undefined : { url })
    invitations.again()
  }
  const create = may('people.invite') && (
    <div class="actions">
      <button type="button" class="button" data-action="ask-import" onClick={() => setDialog('import')}>
        <Icon name="upload" size="sm" />
        {words.import}
      </button>
      <button type="button" class="button primary" data-action="new-invitation" onClick={() => setDialog('new')}>
        <Icon name="plus" size="sm" />
        {words.add}
      </button>
    </div>
  )
  return (
    <>
      <PageHead title={words.title} lead={words.lead} actions={create} />
      <Card flush>
        <Reading of={invitations}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty icon="mail" title={words.none} level={2}>
                <p>{words.noneWhat}</p>
              </Empty>
            ) : (
              <InvitationTable invitations={items} onAsk={setDialog} />
            )
          }
        </Reading>
        <ListFoot of={invitations} />
      </Card>
      {dialog === 'import' && <ImportInvitations onDone={() => refresh()} onClose={close} />}
      {dialog === 'new' && <NewInvitation onDone={refresh} onClose={close} />}
      {typeof dialog === 'object' && 'url' in dialog && <IssuedLink url={dialog.url} onClose={close} />}
      {typeof dialog === 'object' && 'about' in dialog && <ActDialog {...dialog} onDone={refresh} onClose={close} />}
    </>
  )
}

function ActDialog({ about, ...props }: InvitationAct & { onDone: () => void; onClose: () => void }) {
  return about === 'resend' ? <ResendInvitation {...props} /> : <RevokeInvitation {...props} />
}
