/** Holds the messages about members and invitations of an organization. */
export const peopleMessages = {
  lead: (members: number, invitations: number | undefined) =>
    [
      members === 1 ? '1 member' : `${members} members`,
      invitations === undefined ? '' : invitations === 1 ? '1 open invitation' : `${invitations} open invitations`,
    ]
      .filter(Boolean)
      .join(', '),
  export: 'Export CSV',
  tabs: { members: 'Members', invitations: 'Invitations' },
  search: 'Search name, username or e-mail',
  searchNames: 'Search name or username',
  everyRole: 'All roles',
  columns: { name: 'Name', role: 'Role', signs: 'Signature', joined: 'Joined', actions: 'Actions' },
  you: 'You',
  signs: 'May sign',
  signsNot: 'No',
  more: (name: string) => `More for ${name}`,
  shown: (shown: number, total: number) => `${shown} of ${total}`,
  showMore: 'Show more',
  noMatch: 'No member matches',
  noMatchWhat: 'Try another name, or another role.',
  clear: 'Clear filters',
  csv: {
    name: 'Name',
    handle: 'Username',
    email: 'E-mail',
    role: 'Role',
    permissions: 'Permissions',
    joined: 'Joined',
  },
  invitee: 'Invited',
  by: 'By',
  expires: 'Expires',
  mail: 'Mail',
  mailed: (when: string) => `Mailed ${when}`,
  notMailed: 'Not mailed',
  link: 'Link only',
  mailAgain: 'Mail again',
  mailedAgain: (email: string) => `Mailed to ${email} again. The link before no longer works.`,
  revoked: 'Invitation revoked.',
  noInvitations: 'No open invitations',
  noInvitationsWhat: 'Invitations stay here until they are accepted, declined or expire after seven days.',
  invite: 'Invite people',
  inviteesHint:
    'Several at once: separate them with commas or lines. If you sign your changes, you sign each invitation.',
  tooMany: (most: number) => `Invite up to ${most} at once.`,
  roleMay: (role: string) => `${role} may`,
  sent: (name: string) => `${name} is invited`,
  sentSeveral: (count: number) => `${count} invitations created`,
  mailedTo: (email: string) =>
    `We mailed ${email} a link. It works for seven days and confirms the address, so you need not send anything.`,
  mailedNone: 'No mail was sent. Copy the link now and send it: it is not shown again.',
  linkForNamed: (handle: string) =>
    `@${handle} finds the invitation in their account. You can also send this link: it is not shown again.`,
  ownLink: 'Or send the link yourself',
  ownLinkWhat:
    'Only the person you invited can use it. Unlike the one in the mail, it doesn’t confirm the address. It is not ' +
    'shown again.',
  failed: (names: string, reason: string) => `Not invited: ${names}. ${reason}`,
  inviteMore: 'Invite more',
  invitationLink: 'Invitation link',

  own: {
    title: 'Invitations for you',
    as: (role: string, organization: string) => `Join ${organization} as ${role}`,
    from: (inviter: string, until: string) => `From ${inviter}, expires ${until}`,
    join: 'Join',
    decline: 'Decline',
    declined: (organization: string) => `You declined the invitation to ${organization}.`,
    needsLink: (email: string) => `Open the link that we mailed to ${email} to join.`,
  },
  list: {
    lead: 'Companies and teams that you belong to.',
    yourRole: (role: string) => `You are ${role}`,
  },
}
