/** Holds the messages about the invitation to which a user continues from a page before the sign-in. */
export const joiningMessages = {
  join: (organization: string, role: string) => `To join ${organization} as ${role}`,
  roles: { owner: 'Owner', admin: 'Admin', signer: 'Signer', member: 'Member', viewer: 'Viewer' },
}
