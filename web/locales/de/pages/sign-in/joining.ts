import type { joiningMessages as english } from '../../../en/pages/sign-in/joining.ts'

/** Holds the messages about the invitation to which a user continues from a page before the sign-in. In German. */
export const joiningMessages: typeof english = {
  join: (organization, role) => `Danach trittst du ${organization} bei (Rolle: ${role})`,
  roles: {
    owner: 'Inhaber',
    admin: 'Admin',
    signer: 'Unterzeichner',
    member: 'Mitglied',
    viewer: 'Betrachter',
  },
}
