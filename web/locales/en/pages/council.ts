import { plural } from '../../plural.ts'

/** Holds the messages about the council of an organization, its proposals and its reset. */
export const councilMessages = {
  none:
    'Members who may sign do so alone. With a council, each signature of the organization needs the approval of ' +
    'other members, and so does each change of the council.',
  founding:
    'All members who may sign or approve now become its signatories, and each has to approve. Give and remove ' +
    'these permissions first.',
  found: 'Propose council',
  what: (approvals: number) =>
    plural('en', approvals, {
      one:
        'Only these people sign and approve for the organization. Each signature, and each change of the council, ' +
        'needs 1 approval.',
      other:
        `Only these people sign and approve for the organization. Each signature, and each change of the council, ` +
        `needs ${approvals} approvals.`,
    }),
  change: 'Propose change',
  signatories: 'Signatories',
  since: (day: string) => `since ${day}`,
  suspended: (day: string) => `suspended ${day}`,
  suspend: 'Suspend',
  suspendWho: (handle: string) => `Suspend @${handle}`,
  restore: 'Propose to restore',
  restoreWho: (handle: string) => `Propose to restore @${handle}`,
  candidates: 'Other members who may sign or approve',
  candidatesWhat: 'They do so only once the council has admitted them.',
  admit: 'Propose to admit',
  admitWho: (handle: string) => `Propose to admit @${handle}`,
  proposals: 'Proposals',
  noProposals: 'No open proposals.',
  proposedBy: (who: string, day: string) => `Proposed by ${who}, expires ${day}.`,
  approvals: (count: number, needed: number, who: string) =>
    who === '' ? `Approvals: ${count} of ${needed}.` : `Approvals: ${count} of ${needed} (${who}).`,
  approve: 'Approve',
  complete: 'Complete',
  withdraw: 'Withdraw',
  unnamed: 'Details of this proposal can’t be shown now. Open it to see the exact data.',
  reset: {
    title: 'End the council without its approval',
    what:
      'For the case that too few signatories are left. After 14 days in which none of them objects, an owner can ' +
      'end the ' +
      'council. All of them get a mail, and receipts show it from then on.',
    request: 'Request end of the council',
    pending: (day: string, last: string) =>
      `The end of the council was requested. It is possible from ${day} until ${last}.`,
    veto: 'Veto',
    complete: 'End the council',
    happened: (day: string) => `A council of this organization was ended without its approval on ${day}.`,
    formerTitle: 'The council may end',
    formerWhat: 'You are one of the signatories of this organization, and can veto the end of its council.',
    vetoed: 'You vetoed it. The council stays.',
  },
}
