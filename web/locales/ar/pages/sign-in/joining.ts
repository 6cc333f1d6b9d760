import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { joiningMessages as english } from '../../../en/pages/sign-in/joining.ts'

/** Holds the messages about the invitation to which a user continues from a page before the sign-in. In Arabic. */
export const joiningMessages: typeof english = {
  join: (organization, role) => `للانضمام إلى ${isolate(organization)} بدور ${role}`,
  roles: { owner: 'مالك', admin: 'مسؤول', signer: 'موقِّع', member: 'عضو', viewer: 'مُطَّلِع' },
}
