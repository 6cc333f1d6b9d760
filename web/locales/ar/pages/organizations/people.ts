import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { peopleMessages as english } from '../../../en/pages/organizations/people.ts'
import { counted, handleOf, numberOf } from '../../format.ts'

const membersOf = (count: number) =>
  counted(count, { one: 'عضو واحد', two: 'عضوان', few: '# أعضاء', many: '# عضوًا', other: '# عضو' })
const invitationsOf = (count: number) =>
  counted(count, {
    one: 'دعوة مفتوحة واحدة',
    two: 'دعوتان مفتوحتان',
    few: '# دعوات مفتوحة',
    many: '# دعوة مفتوحة',
    other: '# دعوة مفتوحة',
  })

/** Holds the messages about members and invitations of an organization. In Arabic. */
export const peopleMessages: typeof english = {
  lead: (members, invitations) =>
    invitations ? `${membersOf(members)}، ${invitationsOf(invitations)}` : membersOf(members),
  export: 'تصدير CSV',
  tabs: { members: 'الأعضاء', invitations: 'الدعوات' },
  search: 'بحث بالاسم أو المستخدم أو البريد',
  searchNames: 'البحث بالاسم أو اسم المستخدم',
  everyRole: 'كل الأدوار',
  columns: { name: 'الاسم', role: 'الدور', signs: 'التوقيع', joined: 'تاريخ الانضمام', actions: 'الإجراءات' },
  you: 'أنت',
  signs: 'مسموح',
  signsNot: 'غير مسموح',
  more: (name) => `المزيد عن ${isolate(name)}`,
  shown: (shown, total) => `${numberOf(shown)} من ${numberOf(total)}`,
  showMore: 'عرض المزيد',
  noMatch: 'لا يوجد عضو مطابق',
  noMatchWhat: 'جرّب اسمًا آخر أو دورًا آخر.',
  clear: 'مسح عوامل التصفية',
  csv: {
    name: 'الاسم',
    handle: 'اسم المستخدم',
    email: 'البريد الإلكتروني',
    role: 'الدور',
    permissions: 'الصلاحيات',
    joined: 'تاريخ الانضمام',
  },
  invitee: 'المدعو',
  by: 'الداعي',
  expires: 'تاريخ الانتهاء',
  mail: 'البريد',
  mailed: (when) => `أُرسلت ${isolate(when)}`,
  notMailed: 'لم تُرسل',
  link: 'رابط فقط',
  mailAgain: 'إرسال من جديد',
  mailedAgain: (email) => `أُرسلت إلى ${isolate(email)} من جديد. لم يعد الرابط السابق يعمل.`,
  revoked: 'تم إلغاء الدعوة.',
  noInvitations: 'لا توجد دعوات مفتوحة',
  noInvitationsWhat: 'تبقى الدعوات هنا حتى تُقبل أو تُرفض أو تنتهي صلاحيتها بعد سبعة أيام.',
  invite: 'دعوة أشخاص',
  inviteesHint: 'عدة أشخاص معًا: افصل بينهم بفواصل أو أسطر. إذا كنت توقّع تغييراتك، فستوقّع كل دعوة.',
  tooMany: (most) => `الحد الأقصى في المرة الواحدة: ${numberOf(most)}.`,
  roleMay: (role) => `صلاحيات دور «${role}»`,
  sent: (name) => `تمت دعوة ${isolate(name)}`,
  sentSeveral: (count) =>
    counted(count, {
      one: 'تم إنشاء دعوة واحدة',
      two: 'تم إنشاء دعوتين',
      few: 'تم إنشاء # دعوات',
      many: 'تم إنشاء # دعوة',
      other: 'تم إنشاء # دعوة',
    }),
  mailedTo: (email) => `أرسلنا رابطًا إلى ${isolate(email)}. يعمل سبعة أيام ويؤكد العنوان، فلا حاجة إلى أن ترسل شيئًا.`,
  mailedNone: 'لم تُرسل أي رسالة. انسخ الرابط الآن وأرسله: لن يُعرض مرة أخرى.',
  linkForNamed: (handle) => `تظهر الدعوة في حساب ${handleOf(handle)}. يمكنك أيضًا إرسال هذا الرابط: لن يُعرض مرة أخرى.`,
  ownLink: 'أو أرسل الرابط بنفسك',
  ownLinkWhat: 'لا يستطيع استخدامه إلا الشخص الذي دعوته. ولا يؤكد العنوان، بخلاف رابط الرسالة. لن يُعرض مرة أخرى.',
  failed: (names, reason) => `لم تتم دعوة: ${isolate(names)}. ${reason}`,
  inviteMore: 'دعوة المزيد',
  invitationLink: 'رابط الدعوة',

  own: {
    title: 'دعوات لك',
    as: (role, organization) => `الانضمام إلى ${isolate(organization)} بدور ${role}`,
    from: (inviter, until) => `من ${isolate(inviter)}، تنتهي الصلاحية ${isolate(until)}`,
    join: 'انضمام',
    decline: 'رفض',
    declined: (organization) => `رفضت الدعوة إلى ${isolate(organization)}.`,
    needsLink: (email) => `للانضمام، افتح الرابط الذي أرسلناه إلى ${isolate(email)}.`,
  },
  list: {
    lead: 'الشركات والفرق التي تنتمي إليها.',
    yourRole: (role) => `دورك: ${role}`,
  },
}
