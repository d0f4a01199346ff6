import { userInfo } from 'node:os';
import { connectAsync } from 'mqtt';
import { freePorts, Program } from './program';
import { Recorder } from './recorder';

/** A message as a client got it. */
export interface Received {
  topic: string;
  payload: string;
  /** The broker had kept it. */
  retain: boolean;
  qos: number;
}

/** A client that has subscribed to every topic. */
export interface BrokerClient {
  readonly messages: Recorder<Received>;
  publish(topic: string, payload: string, options?: { retain?: boolean; qos?: 0 | 1 }): Promise<void>;
  /** The next message on a topic since `after` that fits. */
  next(topic: string, fits?: (payload: string) => boolean, after?: number): Promise<string>;
  close(): Promise<void>;
}

export interface Mosquitto {
  readonly port: number;
  /** Everything that clients sent and got, as the broker logs it. */
  readonly log: string;
  client(): Promise<BrokerClient>;
  /** What the broker keeps, by topic. */
  retained(): Promise<Map<string, string>>;
  /** Ends it at once, as a power cut does. */
  kill(): Promise<void>;
  /** Starts it again on its port; it remembers what it kept only if it was started with `memory`. */
  restart(): Promise<void>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

/** Starts a broker of its own on a free port of 127.0.0.1. `memory`: it keeps retained messages when it is killed. */
export async function startMosquitto({ memory = false } = {}): Promise<Mosquitto> {
  const program = new Program('mosquitto');
  const [port = 0] = await freePorts(1);
  const config = program.write(
    'mosquitto.conf',
    [
      `listener ${port} 127.0.0.1`,
      'allow_anonymous true',
      // Started by root it would become another user, who cannot write into the folder.
      `user ${userInfo().username}`,
      `persistence ${memory}`,
      ...(memory
        ? [`persistence_location ${program.folder}/`, 'autosave_on_changes true', 'autosave_interval 1']
        : []),
      'log_dest stderr',
      'log_type all',
      '',
    ].join('\n'),
  );
  const start = () => program.start(['-c', config], port);
  await start();

  const client = async (): Promise<BrokerClient> => {
    const connection = await connectAsync(`mqtt://127.0.0.1:${port}`, { reconnectPeriod: 200 });
    const messages = new Recorder<Received>();
    connection.on('message', (topic, payload, { retain, qos }) => {
      messages.push({ topic, payload: payload.toString(), retain, qos });
    });
    await connection.subscribeAsync('#', { qos: 1 });
    return {
      messages,
      publish: async (topic, payload, options = {}) => {
        await connection.publishAsync(topic, payload, { qos: 1, ...options });
      },
      next: async (topic, fits = () => true, after = 0) => {
        const isNext = (message: Received) => message.topic === topic && fits(message.payload);
        const { payload } = await messages.find(`message on ${topic}`, isNext, { after });
        return payload;
      },
      close: () => connection.endAsync(true),
    };
  };

  return {
    port,
    get log() {
      return program.log;
    },
    client,
    retained: async () => {
      const reader = await connectAsync(`mqtt://127.0.0.1:${port}`);
      const kept = new Map<string, string>();
      const marker = `marker/${process.pid}/${Math.random()}`;
      const complete = new Promise<void>((resolve) => {
        reader.on('message', (topic, payload, { retain }) => {
          if (topic === marker) resolve();
          else if (retain) kept.set(topic, payload.toString());
        });
      });
      // With QoS 1 the broker would drop what exceeds the client's queue of 1,000 messages.
      await reader.subscribeAsync('#', { qos: 0 });
      // Comes after everything that was kept.
      await reader.publishAsync(marker, '', { qos: 1 });
      await complete;
      await reader.endAsync();
      return kept;
    },
    kill: () => program.end('SIGKILL'),
    restart: start,
    stop: () => program.remove(),
  };
}
