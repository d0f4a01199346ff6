import { READINGS, type JsonRecord, type ReadingName } from '../types';

/**
 * The names a service may use: the API document (section 2) shows the field names of neither strips nor outlets. Case, `_`, `-`,
 * spaces and dots in a name do not count: names are written here in lower case and without these. Where order matters, the most
 * preferred comes first. Each comment below says what fields with the names of that group do.
 */
const NAMES = {
  /** Identify a strip, whatever the value looks like. */
  mac: 'mac macaddress macaddr stripmac devicemac macid hwaddr hardwareaddress',
  /** Say, by a clear boolean or by a word, that the values beside them are old, or guesses. */
  old: `stale isstale datastale outdated isoutdated cached iscached fromcache assumed assumedstate freshness
    estimated isestimated optimistic isoptimistic predicted ispredicted lastknown islastknown`,
  /** Say where the values beside them come from. Only a word, such as "cache", can mean that they are old. */
  source: 'source datasource statesource valuesource',
  /** Say by a clear boolean that the value beside them is not final yet. In a strip's own record they may mean something else. */
  pending: 'pending ispending switching isswitching transitioning changing unconfirmed unverified',
  /** The opposite of `pending`. */
  confirmed: 'confirmed isconfirmed verified isverified',
  /** Identify a strip only if the value looks like a MAC: the running number of a record must not. */
  id: 'stripid deviceid id uid address deviceaddress serialnumber serial sn ieeeaddress device',
  name: 'name label title alias displayname friendlyname devicename devname stripname',
  /** Names of an outlet that a strip would not have for itself. */
  outletname: `outletname portname socketname plugname switchname relayname channelname subdevicename outletlabel
    portlabel socketlabel plugalias outletalias`,
  /** Say by a clear boolean whether a strip can be reached. */
  available: `available online connected reachable isavailable isonline isconnected isreachable deviceonline
    striponline onlinestatus onlinestate connectionstatus connectionstate connectivity connection reachability alive isalive isup onlineflag
    availability responding isresponding connectioninfo`,
  /** The opposite of `available`. */
  offline:
    'offline isoffline unreach unreachable disconnected unavailable isunreachable isdisconnected dead isdead',
  /** Say by a word whether a strip can be reached, as those in `available` and `offline` do, too. */
  connection: `status state health devicestatus devicestate stripstatus stripstate networkstatus healthstate healthstatus
    statustext statetext presence connstatus connstate currentstatus currentstate overallstatus operationalstatus
    communication communicationstatus commstatus connectstatus netstatus netstate lwt`,
  /** For each reading, first names with the API's own word, then (`…like`) names that mean the same without it. */
  load: 'load loadw loadwatts loadwatt currentload totalload loadpower powerload',
  loadlike: 'watts watt wattage powerw powerwatts powerinwatts activepower totalpower apower realpower',
  voltage: 'voltage voltagev linevoltage mainsvoltage voltagevolts inputvoltage',
  voltagelike: 'volts volt',
  signal: 'signal signalstrength wifisignal signaldbm signallevel wifisignalstrength signalquality',
  signallike: 'rssi wifirssi rssidbm signalrssi',
  /** A load only among or beside other measurements: elsewhere it may be on/off or a mask of bits. */
  power: 'power',
  unit: 'unit units uom unitofmeasurement',
  /** Hold the value in a record such as `{value, unit}`. */
  value: 'value val reading measured actual now current',
  /** Records that hold a strip's own fields one level deeper. */
  self: `strip powerstrip smartstrip smartpowerstrip pdu powerbar multiplug data result device item record response details attributes properties info state
    status reported params parameters itemdata extra system sys getsysinfo sysinfo systeminfo deviceinfo
    stripinfo general all digest hardware node body payload content value values latest live now
    statussts agent object thing meta metadata summary identity identification resource entity main message
    states shadow capabilities capabilitiesobj embedded detail desc description lastresponse hw fields
    devicestatus devicestate stripstatus stripstate statusinfo devinfo responsedata`,
  /** Of those in `self`: a load in them is that of a processor. */
  system: 'sys system sysinfo systeminfo',
  /** Of those in `self`: a load and a voltage in them are the rated ones, and a yes or no may say what can be done. */
  rated: 'hardware hw capabilities capabilitiesobj description identity identification',
  /** Records and lists of measurements. */
  meter: `meter meters metering energy emeter power electrical electricity electric mains measurements
    measured measurement readings reading metrics telemetry sensors sensor globalmeasure getrealtime
    realtime statussns powermeter voltagemeasurement energymeter consumption usage monitoring monitor
    inlet load voltage ac measures stats powermonitoring line total totals actual current powermetering`,
  network: `wifi wlan network radio wifista sta connectivity connection link wireless diagnostics lan ethernet
    eth statusnet signal wifiinfo wifistatus networkinfo net connectioninfo`,
  /** A signal, but only inside `network`. */
  strength: 'strength dbm level quality',
  /** Inside `network`: the address that the strip has there. */
  ip: 'ip ipaddress ipaddr ipv4',
  /** Hold outlets, although the name is not made of the words for an outlet. */
  outlets: 'childdevicelist childdevices subdevices components endpoints toggle togglex dps gangs states',
  /** Hold a list, without saying of what. The names in `self` may do this, too. */
  list: `items results devices list records rows entries entities elements objects nodes edges members page resources
    collection documents docs hits thinglist things children products assets online json devicelist`,
  /** Hold strips that cannot be reached. */
  unreachable: 'offline unreachable unavailable disconnected offlinestrips offlinedevices',
  /** May number outlets, or something else. */
  position: `id index idx no num nr position pos slot slotnumber key endpoint ep n order ordinal sequence seq
    line child address code dp dpid uid uniqueid uuid entityid instance objectid physicalname component
    componentid endpointid identifier ref displayorder sortorder place location guid deviceid serial sn
    serialnumber mac`,
  /** Their text may say what a record is about: "switch_led_1", "sensor.desk_power". */
  code: 'code key id entityid uniqueid identifier property',
  /** Say what kind of thing a record is about. */
  type: 'type kind category class devicetype role deviceclass outlettype porttype archetype',
  /** In a list of `{name, value}`: hold the name of the value. */
  pair: `code key instance property metric name quantity parameter field sensor attribute id type label
    measurement reading`,
  pairvalue: 'value val state reading measured on result status',
  success: 'success ok succeeded successful issuccess issuccessful isok',
  error: `error errors err failure failures failed timedout exception exceptions errorcode errcode
    partialfailure partialfailures`,
  /** Say why something failed, or how often. They count only around a list and in a switch answer or its entries: elsewhere they may be about anything. */
  reason:
    'reason warning warnings fault rejected rejection deniedby blockedby lockedby totalfailed conflicts timeouts usererrors partialerror partialerrors partialfailureerror',
  /** `false` or a word: the values beside it cannot be relied on. */
  valid: 'valid isvalid quality',
  /** Say how many strips there are in all. */
  total:
    'numfound found odatacount membersodatacount allcount numbermatched fullcount resultsetsize all matched matches overall itotalrecords expected sum counttotal outof',
  /** Say how many strips came, or how many there are in all. */
  count: 'count cnt size length num number returned n numberreturned shown displayed available',
  /** Say how many pages there are. */
  pages: `totalpages pagecount pages lastpage numpages totalpage maxpage pagetotal numberofpages pagestotal
    ofpages finalpage totalpagecount totalnumberofpages nbpages pagescount lastpagenumber totalparts totalsegments batches chunks parts segments totalchunks chunkcount totalbatches`,
  page: 'page currentpage pagenumber pageno pageindex pagenum currentpagenumber part chunk segment batch',
  /** Say how many strips a page may hold. */
  limit: `limit perpage pagesize maxresults pagelimit max take top maxitems batchsize chunksize first maxresult`,
  /** Say how many strips come before this page. */
  skipped: 'offset startoffset currentoffset skip startindex start startat from pageoffset skipped',
  /** Are set if another page follows or came before. */
  more: `continuation continuationtoken continuetoken continue marker limitreached maxresultsreached left
    omitted missing dropped resumetoken lastevaluatedkey paginationtoken pagetoken bookmark cursor
    after aftercursor cursorafter cursornext scrollid morefollows moreurl hasadditional capped cutoff
    overflow limited limitexceeded quotaexceeded before startingafter membersodatanextlink rest skiptoken
    startafter pagekey moretocome tobecontinued cropped abridged shortened pagingtoken canloadmore maxreached
    overlimit endingbefore terminatedearly resumptiontoken scrolltoken searchafter nextpagestate`,
  /** Are set by a service that has pages, on the last one too. */
  lastkey:
    'lastid lastkey lastitem lastcursor lasttoken lastvisible lastdoc lastdocid pagecursor pagingcursor pagestate pagingstate paginated ispaginated paged ispaged',
  /** Say that this is the end; `false`: that it is not. */
  last: `last islast lastpagereached complete iscomplete done isdone alldone final isfinal eof end finished isfinished islastpage
    nomore exhausted completed full isfull isend ended iseof endoflist endofresults allloaded listcomplete reachedend endreached`,
  /** Are set even if no page follows. Only a text such as "1-2 of 5" says whether one does. */
  range: 'range contentrange showing displaying',
  /** Say that some strips did not come, or were not asked for. */
  missing: `filter filters filtered filteredby query search removed excluded hidden unreadable inaccessible
    degraded ratelimited delta incremental changes maintenance onlineonly onlyonline unauthorized forbidden throttled`,
  /** Records in a wrapper that hold such fields. */
  paging: 'summary counts totals status response nav navigation pageable paginate resultset',
} as const;

/** Words that have a meaning as values, in any case. Spaces, `_` and `-` in a word do not count. Written as in `NAMES`. */
const WORDS = {
  on: `on turnedon switchedon poweredon poweron ison true yes
    stateon powerstateon outletstateon relaystateon switchstateon outletstatuson outleton relayon switchon
    pson`,
  off: `off turnedoff switchedoff poweredoff poweroff isoff false no
    stateoff powerstateoff outletstateoff relaystateoff switchstateoff outletstatusoff outletoff relayoff
    switchoff psoff`,
  yes: 'true yes',
  no: 'false no',
  online: 'online connected reachable available',
  offline: `offline disconnected unreachable unavailable notconnected notreachable notavailable
    notresponding noresponse lost connectionlost deviceoffline dead`,
  /** The values beside it are old, or guesses. */
  old: 'stale outdated cache cached lastknown estimated assumed predicted optimistic',
  /** Something failed, or only a part succeeded. */
  failed: `fail failed failure error errored err ko nok ng timeout timedout requesttimeout gatewaytimeout unreachable rejected refused incomplete partial
    partialsuccess partialfailure partialcontent`,
  /** Something is not done, or not yet. */
  pending: `pending queued scheduled skipped dryrun inprogress processing loading retry retrying offline
    disconnected syncing async asynchronous deferred delayed willretry submitted enqueued inqueue waiting
    executing awaiting ispending isqueued postponed buffered unacknowledged unfinished`,
  /** Beside the state of an outlet: it is not known, or about to change. */
  unsettled: `unknown indeterminate undetermined unconfirmed unverified pending switching transitioning
    intransition changing turningon turningoff switchingon switchingoff poweringon poweringoff`,
  /** In a switch answer: it was not done. In the record of a strip or an outlet these words may mean something else. */
  refused: `denied locked blocked aborted cancelled canceled forbidden notfound unsupported ignored
    notswitched notapplied notexecuted simulated simulation busy expired interrupted stuck nack
    notok unsuccessful noresponse notresponding deviceoffline devicetimeout dropped invalid unauthorized
    unconfirmed unverified rolledback reverted superseded throttled ratelimited
    undelivered unswitched notdone notconfirmed unsent nak noack notsent notdelivered notsupported notcompleted notfinished
    notprocessed unprocessed noreply noanswer devicebusy accessdenied permissiondenied declined discarded overload overloaded tripped jammed conflict suspended`,
  /** What an outlet does after a power cut. */
  afterPowerCut: 'last laststate memory restore previous prev keep remember',
  /** What can be sent to an outlet, but is no state of it. */
  command: 'toggle',
  /** The quality of the values beside it is too low to rely on them. */
  bad: 'bad invalid uncertain',
  /** As the value of an error: there is none. */
  fine: 'none no off false ok null noerror success normal n/a',
} as const;

/** A pattern for one of these words. */
export const oneOf = (words: string): string => `(?:${words.replace(/\s+/g, '|')})`;

/** Words for an outlet: names such as "outletNumber", "port_states" and "relay1" are made of them, and texts such as "Outlet 1". */
export const OUTLET = oneOf(
  'outlet port socket plug switch relay channel receptacle output gang subdevice ch',
);
export const OUTLETS = oneOf('outlets ports sockets plugs switches relays channels receptacles outputs');
const BEFORE_OUTLETS = oneOf('power smart ac switched switchable all controlled strip device pdu');
const AFTER_OUTLETS = oneOf('states statuses list table array map status state values info data details');
const OUTLET_SETS = new RegExp(
  `^${BEFORE_OUTLETS}*(?:${OUTLETS}|${OUTLET}|${OUTLET}s?(?:es)?${AFTER_OUTLETS})$`,
);
/** Names of such sets, and of single outlets, that say that a bare number is on or off, not a measurement. */
const SWITCHED = /states?$|^(?:relay|switch|state)/;

const BEFORE_STATE = `(?:is|${OUTLET}|power|device|physical|actual|current|real|realtime|live|latest|reported|present|binary|hardware|hw|measured|sensed|observed|effective|confirmed|verified|operational|contact|toggle)*`;
const STATE_TEXT = oneOf('text name label str string desc description display');
/** The end of a key such as `status_text`, which holds the text for the state beside it. */
export const STATE_TEXT_SUFFIX = new RegExp(`[ ._-]?${STATE_TEXT}$`, 'i');
/** Names of a state. Not `power_on_state`, which says whether an outlet is on after a power cut. */
const STATE = new RegExp(
  `^(?!.*poweronstat)${BEFORE_STATE}(?:(?<any>(?:on|onoff)?(?:state|status)|(?:state|status)value|on|onoff|relay|switch|powered|poweredon|switched|switchedon|turnedon|energi[sz]ed)|(?<off>off|poweredoff|switchedoff|turnedoff)|(?<word>power|output|value)|(?:state|status)(?<text>${STATE_TEXT}))$`,
);
/** Names of the number of an outlet. */
const NUMBER = new RegExp(`^(?:(?:power|device)*${OUTLET}+(?:number|no|num|nr)?|number)$`);
const POSITION = new RegExp(`^${OUTLET}(?:id|index|idx|position|pos|slot|key|ref|code)$`);
/** Names that tell a record from others. A time does, too: records that each have a time are events, one after another. */
const IDENTIFIER = /(?:id|key|serial|code|sn|mac|address)$|^(?:at|ts|date|time(?:stamp)?)$/;

const STATE_WORDS = oneOf('is on onoff state status power powered toggle');
/** "port1", "outlet_2", "POWER3", "state_l4", "relay_1_state", "switch:0", "outlet_1_name", "4"; not "relay_power_on_state_l1", the state after a power cut. */
const NUMBERED = new RegExp(
  `^(?!.*poweronstat)(?:((?:power|smart|ac)*(?:${OUTLET}+|out)(?:state|status|power|on|toggle)?|${STATE_WORDS}+|(?:${OUTLET}|${STATE_WORDS})+[lps])|([lposk]))?([0-9]{1,2})((?:is)?(?:on|state|status|onoff|relay|power|powered|enabledstate)|name|label|alias|title)?$`,
);

const STRIPS =
  /^(?:my|own|owned|shared|smart|power|all|user|online)*(?:strip|pdu|powerbar|multiplug)s?(?:list|map|array|data|items)?$/;
/** Things that are not strips, but may contain some. */
const FOREIGN =
  /^(?:hub|gateway|bridge|router|controller|repeater|extender|camera|bulb|light|sensor|thermostat|lock|ap|accesspoint|coordinator|parent|group)s?$/;
/** Words for records that say nothing about the present, or are about something else. */
const DENIED_WORDS = `desired target requested request default config configuration configured setting schedule scheduled
  timer event history log scene rule automation pending previous next template example limit threshold
  rated rating nominal alarm alert invitation permission deleted removed archived override backup initial
  expected planned client user owner neighbor firmware input led button light lock
  command preset task program timeline startup boot saved usb min max minimum maximum average avg mean
  peak wanted before old pulse inching configure countdown job routine macro failsafe away notification
  proposed queue delay plan recovery outage loss former retired unpaired unclaimed nearby demo yesterday
  tomorrow future restore factory`;
const DENIED = new RegExp(`^${oneOf(DENIED_WORDS)}s?$`);
/** Whether an outlet is on after a power cut: "power_on_state", "relay_power_on_behavior". */
const AFTER_POWER_CUT = /poweron(?:stat|behavi)/;

const THINGS = `${oneOf('strip powerstrip pdu device node object entity entitie item result element record row hit entry entrie doc data match matche')}s?`;
const PAGES = `${oneOf('page pager paging pagination paginator cursor view')}s?`;
const AFTER_NEXT =
  oneOf(`page no num number cursor token url link href uri path query params offset marker mark bookmark id key start available batch
  chunk part segment set index from after skip continuation pagination paging partition anchor iterator stream position locator ${THINGS}`);
const BEFORE_ERROR =
  oneOf(`is has num device relay port outlet strip command comm communication network hardware
  server internal sync`);
const AFTER_ERROR = oneOf(
  'no number msg message text string reason type title detail details info description',
);
const FAILED = oneOf('fail failed failure error skipped rejected pending invalid unconfirmed');
const NOT_DONE = oneOf('unreachable offline queued blocked locked denied refused unswitched');
/**
 * Names around a list or of errors that are made of several words: "totalNumberOfStrips", "hydra:totalItems", "partial_results", "nextPageUrl",
 * "page_meta", "device_error", "errmsg", "skipped_ports".
 */
const MADE_OF_WORDS: readonly (readonly [NameGroup, RegExp])[] = [
  [
    'total',
    new RegExp(
      `^(?:x|hydra|grand|estimated)*total(?:num|number)?(?:of)?(?:${THINGS})?(?:count|cnt|size|available|found|matching|registered|owned|known)?$`,
    ),
  ],
  [
    'total',
    new RegExp(
      `^(?:num|numberof|nb)(?:strip|device|hit)s$|^${THINGS}(?:total|totalcount|intotal|found|filtered)$|^(?:expected|found)(?:${THINGS}|count|total)$`,
    ),
  ],
  ['count', new RegExp(`^(?:num|numberof|noof|nb)${THINGS}$|^${THINGS}(?:count|num)$`)],
  [
    'more',
    new RegExp(
      `^(?:is|was|list|response|output|${THINGS})*(?:partial|truncated|incomplete)(?:list|search|response|output|at|${THINGS})?$`,
    ),
  ],
  ['more', new RegExp(`^(?:is|has|load|see|show)?more(?:pages?|${THINGS})?(?:available|count|link|href)?$`)],
  ['more', new RegExp(`^remaining(?:pages|${THINGS})?(?:count)?$|^(?:pages|${THINGS})(?:remaining|left)$`)],
  ['more', new RegExp(`^(?:has|is|can|odata|hydra)?(?:next|prev|previous)${AFTER_NEXT}*$`)],
  ['last', /^last(?:page)?(?:url|link|href|uri)$|^hydralast$|^(?:is)?last(?:batch|chunk|part|segment)$/],
  ['reason', new RegExp(`^(?:${BEFORE_ERROR}|${OUTLETS})(?:errors?|failed|failures?)$`)],
  ['reason', new RegExp(`^(?:err|error|fail|failure|reject|rejected|rejection)${AFTER_ERROR}$`)],
  ['reason', new RegExp(`^${FAILED}s?(?:${OUTLETS}|${THINGS}|count|total)$|^${NOT_DONE}${OUTLETS}$`)],
  ['limit', new RegExp(`^${THINGS}perpage$`)],
  ['paging', new RegExp(`^(?:${PAGES}|list|result|response)?(?:meta|metadata|info|links?|headers?)$`)],
  ['paging', new RegExp(`^(?:${THINGS})?aggregate$`)],
  ['paging', new RegExp(`^(?:hydra)?${PAGES}(?:details|context|data|result|state)?$`)],
];

/** What a key means by itself. */
export type KeyMeaning = ReturnType<typeof classify>;

type NameGroup = keyof typeof NAMES;

/** Keys that are kept from one answer to the next: a service uses the same few in every record. */
const MAX_KEYS = 1_000;
const meanings = new Map<string, KeyMeaning>();

/** What a key means by itself. The result is kept, because finding it takes longer than everything else that is done with a field. */
export function meaningOf(key: string): KeyMeaning {
  const known = meanings.get(key);
  if (known !== undefined) return known;
  const meaning = classify(key);
  meanings.set(key, meaning);
  // Bounds memory. Deferred until the answer is decoded: otherwise the meaning of each of its many keys would be found again and again.
  if (meanings.size === MAX_KEYS || key.length > LONGEST_NAME) queueMicrotask(() => meanings.clear());
  return meaning;
}

/** Whether a field is one that is looked for, judged by the meaning of its key and by its value. */
type IsField = (meaning: KeyMeaning, value: unknown) => boolean;

/** Whether a record has such a field. */
export function hasField(record: JsonRecord, isIt: IsField): boolean {
  for (const key in record) if (isIt(meaningOf(key), record[key])) return true;
  return false;
}

/** The keys of all such fields of a record. */
export const keysWhere = (record: JsonRecord, isIt: IsField): string[] =>
  Object.keys(record).filter((key) => isIt(meaningOf(key), record[key]));

/** The values of all such fields of a record. */
export const valuesWhere = (record: JsonRecord, isIt: IsField): unknown[] =>
  keysWhere(record, isIt).map((key) => record[key]);

/** The values under all keys that are this name, in any spelling. */
export const valuesNamed = (record: JsonRecord, name: string): unknown[] =>
  valuesWhere(record, ({ plain }) => plain === name);

/** For each name or word, its groups in a table and its rank in each. Words often come in capitals, so these are included, too. */
function groupsOf<Group extends string>(
  table: Readonly<Record<Group, string>>,
): ReadonlyMap<string, ReadonlyMap<Group, number>> {
  const groups = new Map<string, Map<Group, number>>();
  for (const group in table) {
    for (const [rank, name] of table[group].split(/\s+/).entries()) {
      const own = (groups.get(name) ?? new Map<Group, number>()).set(group, rank);
      groups.set(name, own).set(name.toUpperCase(), own);
    }
  }
  return groups;
}

const GROUPS = groupsOf(NAMES);
const WORD_GROUPS = groupsOf(WORDS);

type WordGroup = keyof typeof WORDS;

/** Whether a value is a word of that group. */
export function says(group: WordGroup, value: unknown): boolean {
  if (typeof value !== 'string' || value.length > LONGEST_NAME) return false;
  const groups = WORD_GROUPS.get(value) ?? WORD_GROUPS.get(value.toLowerCase().replace(/[\s_-]+/g, ''));
  return groups?.has(group) === true;
}

/** In lower case, without separators; "" for a key that is too long for a name. */
const plainOf = (key: string): string =>
  key.length > LONGEST_NAME ? '' : key.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

const LONGEST_NAME = 40;

function classify(key: string) {
  const plain = plainOf(key);
  const ranks = GROUPS.get(plain);
  const made = MADE_OF_WORDS.filter(([, names]) => names.test(plain));
  const groups = new Set([...(ranks?.keys() ?? []), ...made.map(([group]) => group)]);
  const is = (group: NameGroup): boolean => groups.has(group);
  const rank = (group: NameGroup): number => ranks?.get(group) ?? Infinity;
  const [, word, letter, digits, after] = NUMBERED.exec(plain) ?? [];
  const { reading, tier } = readingNamed(plain);
  const words = wordsOfKey(key);
  const isStrips = STRIPS.test(plain);
  const unitOf = is('unit') ? 'any' : readingBefore(UNIT, plain);
  // "Factor" alone is the power factor, among measurements.
  const isAnyScale = SCALE.exec(plain)?.index === 0 && plain !== 'factor';
  const scaleOf = isAnyScale ? 'any' : readingBefore(SCALE, plain);
  const isAboutReading =
    [reading, unitOf, scaleOf].some((each) => each !== null) || is('power') || is('strength');
  const outletName = Math.min(rank('outletname'), plain === 'stripname' ? Infinity : 100 + rank('name'));
  return {
    key,
    /** Rank among the names of a strip, or of an outlet; Infinity: none. The same for `mac`, `id` and `pair`. */
    name: rank('name'),
    outletName,
    /** Holds the name of a strip or an outlet, which may be any word. */
    isName: is('name') || is('outletname'),
    /** The text under it names an outlet, identifies it or says what kind of thing it is. */
    isLabel: outletName < Infinity || is('type') || is('code'),
    mac: rank('mac'),
    id: isStrips ? 0 : rank('id'),
    pair: rank('pair'),
    available: is('available'),
    /** How it may say that the values beside it cannot be relied on. */
    reliability: RELIABILITY.find(is) ?? null,
    offline: is('offline'),
    connection: is('connection') || is('available'),
    /** The reading that this name means, and 0 if the name has the API's own word for it, else 1. */
    reading,
    tier,
    /** The reading whose unit, or whose scale, it is; `any`: it does not say whose. */
    unitOf,
    scaleOf,
    /** May be a reading, or its unit or scale. */
    isAboutReading,
    /** If it is beside a `power`, that is a measurement. */
    measures: MEASURES.test(plain),
    /** Holds a strip's own fields, its measurements, or what it says about its connection. */
    part: PARTS.find(is) ?? null,
    /** May hold what was asked for, without saying what that is. */
    holds: is('list') || is('self'),
    /** Holds outlets. */
    outlets: OUTLET_SETS.test(plain) || is('outlets'),
    /** Says that a bare number is on or off. */
    switched: SWITCHED.test(plain),
    /** Says on or off: as anything (`any`), by word only (`word`), as the text for a state (`text`), or the other way round (`off`). */
    state: stateKind(plain) ?? (is('value') ? 'word' : null),
    /** Numbers an outlet for sure, or perhaps. */
    number: NUMBER.test(plain) ? 'port' : is('position') || POSITION.test(plain) ? 'position' : null,
    /** Tells a record from others, so that its place in a list means nothing. */
    identifier: IDENTIFIER.test(plain),
    /** The outlet that a key such as "port1" or "3" names, as the service counts; -1: none. */
    keyed: digits === undefined ? -1 : Number(digits),
    /** How the key names the outlet: by a word for an outlet or a state, by a single letter, or only by a number. */
    keyedBy: word !== undefined ? 'word' : letter !== undefined ? 'letter' : 'digits',
    /** How the value under such a key says on or off; `null`: it is the outlet's name. */
    keyedState: keyedState(word, letter, after),
    strips: isStrips,
    foreign: words.some((each) => FOREIGN.test(each)),
    /** Not read as a field of a strip, even if it is a name above: it has a word such as "firmware". "input_voltage" and "user_strips" are known as a whole. */
    denied:
      key === '__proto__' ||
      (!isAboutReading && !isStrips && words.some((each) => DENIED.test(each))) ||
      AFTER_POWER_CUT.test(plain),
    /** In lower case, without separators. */
    plain,
    /** Is one of the names above. */
    isListed: groups.size > 0,
    /** Whether the name belongs to that group. */
    is,
  } as const;
}

const PARTS = ['self', 'meter', 'network'] as const;
const RELIABILITY = ['old', 'source', 'pending', 'confirmed', 'valid', 'success', 'error'] as const;
const MEASURES = /^(?:voltage|volts|current|amps|energy|powerfactor|frequency)$/;
const UNIT = /units?$/;
/** Names of a scale: the number beside it is not the real value. */
export const SCALE =
  /(?:scal(?:e|ing)(?:factor)?|(?<!power)factor|multiplier|divisor|divider|exponent|decimal)s?$/;

/** The reading that is named before a word at the end: "loadUnit", "voltage_scale". */
const readingBefore = (word: RegExp, plain: string): ReadingName | null =>
  word.test(plain) ? readingNamed(plain.replace(word, '')).reading : null;

/** How a value of this name says on or off; `null`: it does not. */
function stateKind(plain: string) {
  const parts = STATE.exec(plain)?.groups ?? {};
  return (['any', 'off', 'word', 'text'] as const).find((kind) => parts[kind] !== undefined) ?? null;
}

/** "power1": 0 may be watts; "relay1": 0 and "port1": 0 are off; "port1_name" says neither. */
function keyedState(word = '', letter = '', after = '') {
  if (/name|label|alias|title/.test(after)) return null;
  return letter !== '' || after.endsWith('power') || /power[lps]?$/.test(word) ? 'word' : 'any';
}

function readingNamed(plain: string): { reading: ReadingName | null; tier: number } {
  const groups = GROUPS.get(plain);
  const reading = READINGS.find((name) => groups?.has(name));
  if (reading !== undefined) return { reading, tier: 0 };
  return { reading: READINGS.find((name) => groups?.has(`${name}like`)) ?? null, tier: 1 };
}

/** Whether a text such as "relay_1" names an outlet. */
export const namesOutlet = (text: string): boolean => NUMBERED.test(plainOf(text));

/** Whether a text such as "switch_led_1" has a word for something other than an outlet. */
export const isOfOther = (text: string): boolean =>
  wordsOfKey(text).some((word) => FOREIGN.test(word) || DENIED.test(word));

/** The words of a key in snake_case, kebab-case or camelCase, in lower case. */
const wordsOfKey = (key: string): string[] =>
  (key.match(/[A-Z]*[a-z]+|[A-Z]+/g) ?? []).map((word) => word.toLowerCase());
